# SPDX-License-Identifier: Apache-2.0
"""Node names reserved by supervisors on this machine.

Discovery of a running stack in the ROS graph takes long on a busy machine. Supervisors on one
machine therefore reserve their node names with abstract Unix sockets: Linux gives each name to
one process only, and releases it when that process ends.
"""

import contextlib
import errno
import hashlib
import socket
import sys
from collections.abc import Iterable


class NameClaims:
    """Reserved node names of one ROS domain; released when this process ends.

    Args:
        domain: The ROS domain.
    """

    def __init__(self, domain: int) -> None:
        self._domain = domain
        self._held = contextlib.ExitStack()

    def reserve(self, names: Iterable[str]) -> list[str]:
        """Reserve full node names; return those that another process has reserved."""
        if not sys.platform.startswith("linux"):
            return []  # Other systems have no abstract sockets; only the ROS graph is checked.
        return [name for name in sorted(names) if not self._reserve(name)]

    def release(self) -> None:
        """Release the names."""
        self._held.close()

    def _reserve(self, name: str) -> bool:
        # A socket name has at most 107 bytes; node names may be longer.
        key = hashlib.sha256(f"{self._domain} {name}".encode()).hexdigest()
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0teleop_system {key}")
        except OSError as error:
            claim.close()
            return error.errno != errno.EADDRINUSE  # Other errors are left to the graph.
        self._held.callback(claim.close)
        return True
