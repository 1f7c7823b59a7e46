# SPDX-License-Identifier: Apache-2.0

import math
import threading
import time
from dataclasses import dataclass

import pytest

from teleop_system.exceptions import DeviceNotConnectedError
from teleop_system.utils.newest_slot import NewestSlot


@dataclass(frozen=True)
class Item:
    timestamp: float


def test_only_the_newest_item_is_kept() -> None:
    slot: NewestSlot[Item] = NewestSlot("thing")
    with pytest.raises(DeviceNotConnectedError, match="thing"):
        slot.get()
    slot.put(Item(1.0))
    slot.put(Item(2.0))
    assert slot.get() == Item(2.0)
    slot.close()
    assert not slot.is_open


def test_waiting_ends_with_an_item_of_another_stamp_or_with_the_time() -> None:
    slot: NewestSlot[Item] = NewestSlot("thing")
    assert slot.wait(math.nan, 0.01) is None
    slot.put(Item(1.0))
    assert slot.wait(math.nan, 0.0) == Item(1.0)
    assert slot.wait(1.0, 0.01) is None
    threading.Timer(0.05, slot.put, [Item(0.5)]).start()
    begun = time.monotonic()
    assert slot.wait(1.0, 5.0) == Item(0.5), "a clock that was set back is no reason to wait"
    assert time.monotonic() - begun < 2.0
