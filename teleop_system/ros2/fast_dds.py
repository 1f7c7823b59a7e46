# SPDX-License-Identifier: Apache-2.0
"""Room for pictures in Fast DDS's shared memory.

A message leaves a process through a segment of shared memory, which is 0.5 MB unless somebody
says otherwise. Of a picture of 640 x 480 the colour has 0.9 MB and the depth 1.2 MB: whatever
finds no room is dropped, and with it the picture, as nobody sends the rest again. Of fifteen
published in a second seven to twelve and three to six arrived; with 8 MB all did.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

PROFILES = Path(__file__).with_suffix(".xml")
SEGMENT = 8 * 1024 * 1024
"""Size of the segment in the profiles in [byte]."""
SPARE = 4
"""How many such segments have to be free, lest others find none."""
OWN_CHOICES = (
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "FASTDDS_BUILTIN_TRANSPORTS",
)
"""Where users say how Fast DDS is to send; what they say stays."""


def make_room_for_pictures(
    environment: MutableMapping[str, str] = os.environ, shared: Path = Path("/dev/shm")
) -> bool:
    """Have this process send through more shared memory; to be called before `rclpy.init()`.

    Args:
        environment: Where Fast DDS looks for its profiles.
        shared: Where the operating system keeps shared memory.

    Returns:
        False where users have chosen themselves, or there is not enough shared memory.
    """
    if any(environment.get(name) for name in OWN_CHOICES):
        return False
    try:
        free = os.statvfs(shared)
    except OSError:
        return False
    if free.f_bavail * free.f_frsize < SPARE * SEGMENT:
        return False
    environment[OWN_CHOICES[0]] = str(PROFILES)
    return True
