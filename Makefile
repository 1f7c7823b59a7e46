# Type `make` for the list of targets. Every target sets up what it needs first.
VENV ?= .venv
EXTRAS ?= sim,ik,ros,streaming,mocap,viz,dev
PYTHON ?= python3
ARGS ?=

PY := $(VENV)/bin/python
READY := $(VENV)/.ready
SOURCES := teleop_system tests bench scripts setup.py

# Small matrices are slower, not faster, on several threads.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup lock run demo test lint format bench clean

help: ## Show this list.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | \
	  awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

setup: $(READY) ## Make .venv with the tested versions; again only when the manifests change.

$(READY): setup.py pyproject.toml constraints.txt scripts/setup_env.sh
	@PYTHON="$(PYTHON)" sh scripts/setup_env.sh "$(VENV)" "$(EXTRAS)"
	@touch $@

lock: ## Renew constraints.txt with the newest versions, for make setup to install.
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  PYTHON="$(PYTHON)" sh scripts/setup_env.sh "$$folder" "$(EXTRAS)" lock

run: $(READY) ## Start the ROS 2 nodes of robot, operator and controllers (ARGS="--options").
	@$(PY) -m teleop_system.cli launch teleop_sim_full operator:=mocap loop:=true $(ARGS)

demo: $(READY) ## Watch the robot follow its operator in one process, without ROS 2.
	@$(PY) -m teleop_system.cli run $(ARGS)

test: $(READY) ## Run the tests (ARGS="-k name" to pick some).
	@$(PY) -m pytest -n 2 -q -m "not realtime" $(ARGS) || [ $$? -eq 5 ]
	@$(PY) -m pytest -n 2 --dist loadfile -q -m realtime --reruns 1 --reruns-delay 2 $(ARGS) || [ $$? -eq 5 ]

lint: $(READY) ## Check style, formatting and types.
	@$(PY) -m ruff check $(SOURCES)
	@$(PY) -m ruff format --check $(SOURCES)
	@$(PY) -m mypy

format: $(READY) ## Fix style and formatting where a tool can.
	@$(PY) -m ruff check --fix $(SOURCES)
	@$(PY) -m ruff format $(SOURCES)

bench: $(READY) ## Measure the performance budgets against their peers.
	@$(PY) -m bench $(ARGS)

clean: ## Remove .venv and all generated files.
	rm -rf $(VENV) build dist outputs runs *.egg-info .mypy_cache .pytest_cache .ruff_cache
