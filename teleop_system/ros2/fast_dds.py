# SPDX-License-Identifier: Apache-2.0
"""Larger shared memory segments for Fast DDS, so that camera images arrive.

A message leaves a process through a shared memory segment, 0.5 MB by default. An image of
640 x 480 has 0.9 MB of colour and 1.2 MB of depth. Fragments that do not fit are dropped, and best
effort does not repeat them. At 15 Hz, 7 to 12 colour and 3 to 6 depth images arrived per second;
with 8 MB all arrived.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

PROFILES = Path(__file__).with_suffix(".xml")
SEGMENT = 8 * 1024 * 1024
"""Segment size in the profile in [byte]."""
FREE_SEGMENTS = 4
"""Number of such segments that must be free; other processes need some too."""
USER_VARIABLES = (
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "FASTDDS_BUILTIN_TRANSPORTS",
)
"""Environment variables by which users configure Fast DDS; their choice has priority."""


def enlarge_shared_memory(
    environment: MutableMapping[str, str] = os.environ, shared: Path = Path("/dev/shm")
) -> bool:
    """Enlarge the shared memory segment of this process; call before `rclpy.init()`.

    Args:
        environment: Environment variables that Fast DDS reads.
        shared: Mount point of shared memory.

    Returns:
        False if the user configured Fast DDS, or shared memory is too small.
    """
    if any(environment.get(name) for name in USER_VARIABLES):
        return False
    try:
        free = os.statvfs(shared)
    except OSError:
        return False
    if free.f_bavail * free.f_frsize < FREE_SEGMENTS * SEGMENT:
        return False
    environment[USER_VARIABLES[0]] = str(PROFILES)
    return True
