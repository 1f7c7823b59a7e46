# SPDX-License-Identifier: Apache-2.0
"""Sections of the settings as parameters."""

from collections.abc import Iterator

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from teleop_system.exceptions import ConfigError, TeleopError, UnknownNameError
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.ros2.parameters import Leaf, SettingParameters, field_texts, leaves
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.utils.validators import FieldRange

SETTINGS = TeleopSettings()


class Tuned:
    """A node with parameters, and the settings made from them."""

    def __init__(self, given: dict[str, object], *sections: str, fixed: tuple[str, ...]) -> None:
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        self.node = Node("tuned", parameter_overrides=overrides)
        self.refusal = ""
        self.wrong: TeleopError | None = None
        self.applied: list[TeleopSettings] = []
        self.parameters = SettingParameters(
            self.node,
            sections,
            fixed=fixed,
            refuse=lambda: self.refusal,
            check=self._check,
            apply=self.applied.append,
        )

    def _check(self, settings: TeleopSettings) -> None:
        if self.wrong is not None:
            raise self.wrong

    def set(self, **values: object) -> str:
        """Set parameters, with `__` for a dot; return the reason of a refusal."""
        wanted = [Parameter(name.replace("__", "."), value=v) for name, v in values.items()]
        result = self.node.set_parameters_atomically(wanted)
        assert result.successful is not bool(result.reason)
        return str(result.reason)


@pytest.fixture
def tuned() -> Iterator[type[Tuned]]:
    rclpy.init()
    yield Tuned
    rclpy.try_shutdown()


def of(tuned: type[Tuned], **given: object) -> Tuned:
    named = {name.replace("__", "."): value for name, value in given.items()}
    return tuned(named, "arm", "solver", fixed=("arm.rate",))


def test_defaults_are_those_of_the_settings(tuned: type[Tuned]) -> None:
    made = of(tuned)
    settings = load_settings(["arm.ramp_time=1.25", "arm.limbs.arm.scale=2.0"])
    assert made.parameters.open(settings) == settings
    assert made.node.get_parameter("arm.ramp_time").value == 1.25
    assert made.node.get_parameter("arm.limbs.arm.scale").value == 2.0
    assert made.node.get_parameter("arm.posture").value == ""


def test_parameters_of_the_start_take_precedence(tuned: type[Tuned]) -> None:
    made = of(tuned, arm__ramp_time=1.5, arm__rate=50.0, solver__damping=1e-4)
    settings = made.parameters.open(SETTINGS)
    assert settings.arm.ramp_time == 1.5
    assert settings.arm.rate == 50.0
    assert settings.solver.damping == 1e-4


def test_a_change_yields_new_settings_and_keeps_the_rest(tuned: type[Tuned]) -> None:
    made = of(tuned)
    before = made.parameters.open(SETTINGS)
    assert made.set(arm__ramp_time=2.0, arm__heading="room") == ""
    assert made.set(arm__limbs__torso__scale=0.5) == ""
    after = made.applied[-1]
    assert (after.arm.ramp_time, after.arm.heading) == (2.0, "room")
    assert after.arm.limbs["torso"].scale == 0.5
    assert after.arm.limbs["arm"] == before.arm.limbs["arm"]
    assert after.hand == before.hand


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("arm.ramp_time", 0.1, "out of range"),
        ("arm.heading", "north", "cannot be 'north'"),
        ("arm.catch_up_speed", -1.0, "must be positive"),
        ("arm.rate", 50.0, "read-only"),
        ("solver.collision_slow", 0.001, "collision_slow must exceed collision_stop"),
    ],
)
def test_a_value_that_the_settings_refuse_is_refused_with_their_message(
    tuned: type[Tuned], name: str, value: object, expected: str
) -> None:
    made = of(tuned)
    made.parameters.open(SETTINGS)
    assert expected in made.set(**{name.replace(".", "__"): value})
    assert not made.applied


def test_nothing_changes_while_a_listener_objects(tuned: type[Tuned]) -> None:
    made = of(tuned)
    made.parameters.open(SETTINGS)
    made.refusal = "disengage first"
    assert made.set(arm__ramp_time=2.0) == "disengage first"
    made.refusal, made.wrong = "", TeleopError("the robot has no such posture")
    assert "no such posture" in made.set(arm__posture="handstand")
    made.wrong = None
    assert made.node.get_parameter("arm.ramp_time").value == 0.8
    assert made.set(arm__ramp_time=2.0) == ""


def test_unrelated_parameters_are_ignored(tuned: type[Tuned]) -> None:
    made = of(tuned)
    made.parameters.open(SETTINGS)
    made.refusal = "disengage first"
    made.node.declare_parameter("colour", "red")
    assert made.set(colour="blue") == ""
    assert not made.applied


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("arm.ramp_tme", 1.0, UnknownNameError),
        ("arm.ramp_time", "fast", ConfigError),
        ("arm.ramp_time", 99.0, ConfigError),
        ("arm.heading", "north", ConfigError),
    ],
)
def test_a_wrong_value_at_the_start_is_an_error_that_names_the_parameter(
    tuned: type[Tuned], name: str, value: object, error: type[TeleopError]
) -> None:
    made = tuned({name: value}, "arm", fixed=())
    with pytest.raises(error, match=name.replace(".", r"\.")):
        made.parameters.open(SETTINGS)
    made.parameters.close()


def test_closing_drops_live_changes_but_not_the_values_of_the_start(tuned: type[Tuned]) -> None:
    made = of(tuned, arm__catch_up_speed=0.3)
    made.parameters.open(SETTINGS)
    made.set(arm__ramp_time=2.0, arm__catch_up_speed=0.2)
    made.parameters.close()
    made.parameters.close()
    settings = made.parameters.open(SETTINGS)
    assert (settings.arm.ramp_time, settings.arm.catch_up_speed) == (0.8, 0.3)


def test_every_section_of_a_module_is_described() -> None:
    settings = SETTINGS
    for section in ("arm", "hand", "locomotion", "camera"):
        found = list(leaves(getattr(settings, section), section))
        assert len(found) > 10
        assert [leaf.key for leaf in found if not leaf.description] == []


def test_a_description_is_the_docstring_of_the_field() -> None:
    texts = field_texts(ArmTeleopConfig)
    assert texts["rate"] == "Control frequency in [Hz]."


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        (Leaf("a", 1.0, range=FieldRange(0.0, is_open=True)), "above 0"),
        (Leaf("a", 1.0, range=FieldRange(0.0)), "at least 0"),
        (Leaf("a", "", optional=True), '"" for no value'),
        (Leaf("a", "x", choices=("x", "y")), "one of: x, y"),
    ],
)
def test_a_descriptor_describes_limits_that_a_range_cannot(leaf: Leaf, expected: str) -> None:
    assert expected in leaf.descriptor(read_only=False).additional_constraints


def test_integers_have_integer_ranges() -> None:
    (bounds,) = Leaf("a", 3, range=FieldRange(1, 50)).descriptor(read_only=True).integer_range
    assert (bounds.from_value, bounds.to_value) == (1, 50)
