# SPDX-License-Identifier: Apache-2.0
"""What a supervised process runs: `python -m … PARENT MODULE [ARGUMENTS]`.

It ties the process to the life of the supervisor, keeps quiet when it is interrupted while it is
still importing, and calls the `main` of a node's module.
"""

import ctypes
import importlib
import os
import signal
import sys
from types import FrameType

PR_SET_PDEATHSIG = 1


def tie_to_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; end now if it has died already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


def _leave(number: int, frame: FrameType | None) -> None:
    # Nothing is open yet that would have to be closed.
    os._exit(0)


class _Interruption:
    """Raises `KeyboardInterrupt` at the first signal, and remembers it; the rest is ignored."""

    has_come = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.has_come:
            self.has_come = True
            raise KeyboardInterrupt


def main(arguments: list[str]) -> None:
    """Run a node's module as its console script would."""
    parent, module, *rest = arguments
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    tie_to_parent(int(parent))
    sys.argv = [module, *rest]
    run = importlib.import_module(module).main
    interruption = _Interruption()
    signal.signal(signal.SIGINT, interruption)
    signal.signal(signal.SIGTERM, interruption)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(0)
    except Exception:
        # Parts that were half made when they were interrupted complain; nobody needs to know.
        if not interruption.has_come:
            raise


if __name__ == "__main__":
    main(sys.argv[1:])
