# SPDX-License-Identifier: Apache-2.0
"""How long to wait for a node, and how often to try again."""

from dataclasses import dataclass

from teleop_system.utils.validators import require_non_negative, require_positive


@dataclass(frozen=True, slots=True)
class SupervisionPolicy:
    """Time-outs and restarts of a supervised node."""

    start: float = 60.0
    """Time for a new process to offer its lifecycle services in [s]."""
    configure: float = 60.0
    """Time to configure in [s]; models are loaded here, on a machine that may be busy."""
    activate: float = 15.0
    """Time to activate in [s]."""
    silence: float = 15.0
    """Time without an answer after which a node counts as hung in [s]."""
    backoff: float = 0.5
    """Pause before the first restart in [s]; it doubles with each."""
    longest_backoff: float = 8.0
    """Longest pause before a restart in [s]."""
    max_restarts: int = 5
    """Restarts in a row before a node is given up."""
    healthy_after: float = 20.0
    """Time active after which earlier restarts are forgotten in [s]."""
    interrupt: float = 1.5
    """Time to end after SIGINT in [s]."""
    terminate: float = 0.5
    """Time to end after SIGTERM in [s]; SIGKILL comes next."""

    def __post_init__(self) -> None:
        require_positive(self, "start", "configure", "activate", "silence")
        require_positive(self, "backoff", "longest_backoff", "healthy_after")
        require_positive(self, "interrupt", "terminate")
        require_non_negative(self, "max_restarts")

    def pause(self, failures: int) -> float:
        """Return how long to wait in [s] after so many failures in a row."""
        return float(min(self.backoff * 2.0 ** max(failures - 1, 0), self.longest_backoff))
