# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.utils.validators import (
    require_choice,
    require_in_range,
    require_non_negative,
    require_positive,
)


def test_good_values_pass() -> None:
    settings = SimpleNamespace(rate=1.0, seed=0, share=1.0, motion="sine")
    require_positive(settings, "rate", "share")
    require_non_negative(settings, "seed", "rate")
    require_in_range(settings, "share", 0.0, 1.0)
    require_choice(settings, "motion", ["sine", "step"])


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1"])
def test_positive_refuses_all_but_finite_numbers_above_zero(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^rate must be positive, got "):
        require_positive(SimpleNamespace(rate=value), "rate")


@pytest.mark.parametrize("value", [-1e-300, -1, math.nan, math.inf])
def test_non_negative_refuses_numbers_below_zero(value: float) -> None:
    with pytest.raises(ConfigError, match=r"^seed must not be negative, got "):
        require_non_negative(SimpleNamespace(seed=value), "seed")


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan])
def test_range_names_its_bounds_and_unit(value: float) -> None:
    with pytest.raises(ConfigError, match=r"^reach must be between 0.0 and 1.0 m, got "):
        require_in_range(SimpleNamespace(reach=value), "reach", 0.0, 1.0, unit="m")


def test_choice_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"^motion cannot be 'sin'; did you mean 'sine'\?"):
        require_choice(SimpleNamespace(motion="sin"), "motion", ["sine", "step"])
