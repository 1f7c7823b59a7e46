# SPDX-License-Identifier: Apache-2.0
"""Names of nodes that a supervisor on this machine has taken for itself.

To find somebody in the graph takes a busy machine longer than anybody wants to wait. Supervisors
on one machine therefore tell each other at once, by sockets that Linux gives to one process only
and takes back when it ends, however it ends.
"""

import contextlib
import errno
import hashlib
import socket
import sys
from collections.abc import Iterable


class NameClaims:
    """Names in one ROS domain, for as long as this process holds them.

    Args:
        domain: The ROS domain.
    """

    def __init__(self, domain: int) -> None:
        self._domain = domain
        self._held = contextlib.ExitStack()

    def take(self, names: Iterable[str]) -> list[str]:
        """Take full names of nodes; return those that another process has."""
        if not sys.platform.startswith("linux"):
            return []  # Then the graph has to tell alone.
        return [name for name in sorted(names) if not self._take(name)]

    def release(self) -> None:
        """Let others have the names."""
        self._held.close()

    def _take(self, name: str) -> bool:
        # A socket's name is at most 107 bytes long; names of nodes may be longer.
        key = hashlib.sha256(f"{self._domain} {name}".encode()).hexdigest()
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0teleop_system {key}")
        except OSError as error:
            claim.close()
            return error.errno != errno.EADDRINUSE  # The graph will tell.
        self._held.callback(claim.close)
        return True
