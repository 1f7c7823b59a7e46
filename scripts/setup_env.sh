#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make a virtual environment and install teleop_system with its extras into it.
# Usage: setup_env.sh VENV EXTRAS          for example: setup_env.sh .venv sim,ik,ros,dev
#        setup_env.sh VENV EXTRAS lock     installs the newest versions, and writes constraints.txt
set -eu

venv=$1
extras=$2
task=${3:-install}
constraints=constraints.txt
python=${PYTHON:-python3}
log() { printf '\033[1;36m[setup]\033[0m %s\n' "$*"; }

# A shared library is installed if the dynamic linker finds it.
has_library() { ldconfig -p 2>/dev/null | grep -q "$1"; }

wants() { case ",$extras," in *",$1,"*) ;; *) return 1 ;; esac; }

has_command() { command -v "$1" >/dev/null; }

# Missing system packages that pictures, windows and pages need.
missing_packages() {
    has_library libEGL.so.1 || echo libegl1 libgl1-mesa-dri
    has_library libOSMesa.so || echo libosmesa6
    if wants viz; then
        has_library libusb-1.0.so.0 || echo libusb-1.0-0
        has_library libgomp.so.1 || echo libgomp1
    fi
    if wants dev; then  # Windows and pages are tested for real.
        has_command xvfb-run || echo xvfb xauth
        has_command chromium || has_command google-chrome || echo chromium
    fi
}

install_system_packages() {
    packages=$(missing_packages | tr '\n' ' ')
    if [ -z "$packages" ]; then
        return
    fi
    if [ "$(id -u)" = 0 ] && has_command apt-get; then
        log "installing system packages: $packages"
        # shellcheck disable=SC2086
        if output=$({ apt-get update -qq &&
            apt-get install -y -qq --no-install-recommends $packages; } 2>&1); then
            return
        fi
        echo "$output" | tail -n 3
        log "could not install them; the robot works, some pictures and tests do not"
        return
    fi
    log "cameras, windows and some tests need system packages that are missing here. Type:"
    log "    sudo apt-get install $packages"
    log "Everything else works without them."
}

# ROS 2 installed by apt takes precedence over the wheels; the two must not be mixed.
system_ros() {
    for distro in kilted jazzy; do
        if [ "${ROS_DISTRO:-}" = "$distro" ] || [ -e "/opt/ros/$distro/setup.bash" ]; then
            echo "$distro"
            return
        fi
    done
}

# A person at a terminal sees pip's progress; a log file does not need it.
if [ -t 1 ]; then quiet=""; else quiet="-qq"; fi

pip_install() {
    "$venv/bin/python" -m pip install ${quiet:+"$quiet"} --disable-pip-version-check "$@"
}

# Compiled wheels differ by Python version and machine, so the tested versions hold for one of each.
platform() {
    "$venv/bin/python" -c 'import platform as p, sys
print("Python %d.%d, %s %s" % (*sys.version_info[:2], p.system(), p.machine()))'
}

# The packages that pip installed; some ROS 2 wheels carry the metadata of further packages.
installed() {
    "$venv/bin/python" - <<EOF
from importlib.metadata import distributions
found = {(d.name, d.version) for d in distributions() if d.read_text("INSTALLER") == "pip\n"}
for name, version in sorted(found, key=lambda item: item[0].lower()):
    if name not in ("teleop_system", "teleop-system"):
        print(f"{name}=={version}")
EOF
}

install_package() {
    if [ "$task" = lock ]; then
        pip_install --upgrade pip setuptools
        pip_install --editable ".[$extras]"
        {
            echo "# Tested with: $(platform)"
            echo "# make lock renews this file, make setup installs these versions."
            installed
        } >"$constraints"
        log "wrote $constraints"
    elif grep -qxF "# Tested with: $(platform)" "$constraints"; then
        pip_install --constraint "$constraints" --upgrade pip setuptools
        # The tools that build packages are pinned as well.
        pip_install --constraint "$constraints" --build-constraint "$constraints" \
            --editable ".[$extras]"
    else
        log "$constraints is for another platform than $(platform): installing the newest versions"
        pip_install --upgrade pip
        pip_install --editable ".[$extras]"
    fi
}

# Compiled once, kernels are loaded from disk; otherwise the first start of a robot waits for them.
compile_kernels() {
    log "compiling kernels (about 25 s)"
    for file in $(find teleop_system -name '*kernels.py'); do
        module=$(echo "${file%.py}" | tr / .)
        "$venv/bin/python" -c "import $module" 2>/dev/null || true
    done
}

main() {
    [ "$task" = lock ] || install_system_packages
    distro=$(system_ros)
    if [ -n "$distro" ]; then
        extras=$(echo "$extras" | sed 's/\bros\b//g; s/,,*/,/g; s/^,//; s/,$//')
        log "using ROS 2 $distro of this machine; its wheels are not installed"
        if [ -z "${ROS_DISTRO:-}" ]; then
            log "to use it, type first: source /opt/ros/$distro/setup.bash"
        fi
    fi
    if [ ! -x "$venv/bin/python" ]; then
        log "making $venv with $("$python" --version 2>&1)"
        "$python" -m venv "$venv"
    fi
    log "installing teleop_system[$extras] (about 2 GB the first time, a few minutes)"
    install_package
    [ "$task" = lock ] || compile_kernels
    log "done"
}

main
