# SPDX-License-Identifier: Apache-2.0
"""The ramp after engaging starts almost at zero and ends at full size on time."""

import numpy as np
import pytest

from teleop_system.safety.engage_ramp import EngageRamp


def test_speed_grows_from_one_percent_and_stays_below_a_straight_line() -> None:
    ramp, scales = EngageRamp(0.8), []
    for _ in range(80):
        scales.append(ramp.advance(0.01))
    assert scales[0] == 0.01
    assert (np.diff(scales) >= 0.0).all()
    assert (np.array(scales) <= np.linspace(0.0, 1.0, 81)[1:] + 1e-9).all()
    assert scales[-1] == pytest.approx(1.0)


def test_the_blend_ends_exactly_at_one_and_begins_again_after_a_restart() -> None:
    ramp = EngageRamp(0.8)
    for _ in range(81):
        scale = ramp.advance(0.01)
    assert ramp.is_complete
    assert ramp.blend == 1.0 == scale
    ramp.restart()
    assert ramp.blend == 0.0
    assert not ramp.is_complete
