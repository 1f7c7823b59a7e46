# SPDX-License-Identifier: Apache-2.0
"""Entry point of a supervised process: `python -m … PARENT MODULE [ARGUMENTS]`.

It makes the kernel end the process with the supervisor, exits quietly on a signal during imports,
and calls the `main` of a node's module.
"""

import ctypes
import importlib
import os
import signal
import sys
from types import FrameType

PR_SET_PDEATHSIG = 1


def tie_to_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent dies; exit if the parent is dead."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


def _exit_at_once(number: int, frame: FrameType | None) -> None:
    # Nothing is open yet, so nothing must be closed.
    os._exit(0)


class _Interruption:
    """Raises `KeyboardInterrupt` at the first signal; ignores later ones."""

    was_raised = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.was_raised:
            self.was_raised = True
            raise KeyboardInterrupt


def main(arguments: list[str]) -> None:
    """Run a node's module as its console script would."""
    parent, module, *rest = arguments
    signal.signal(signal.SIGINT, _exit_at_once)
    signal.signal(signal.SIGTERM, _exit_at_once)
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
        # An interrupted start may raise anything; that is not an error.
        if not interruption.was_raised:
            raise


if __name__ == "__main__":
    main(sys.argv[1:])
