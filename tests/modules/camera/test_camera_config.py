# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.gate import GateConfig
from teleop_system.robots.description import Head, JointLimits, RobotDescription
from teleop_system.utils.config_loader import load_config

DEFAULTS = Path(__file__).parents[3] / "config" / "teleop" / "camera.yaml"


@dataclass(frozen=True)
class Tree:
    camera: CameraConfig = field(default_factory=CameraConfig)


def robot(head: Head | None) -> RobotDescription:
    joints = {
        "pan": JointLimits(-0.5, 0.6, velocity=2.0, acceleration=4.0, jerk=40.0),
        "tilt": JointLimits(-0.3, 1.5, velocity=9.0, acceleration=20.0, jerk=200.0),
    }
    return RobotDescription("thing", Path(), Path("thing.xml"), joints=joints, head=head)


def test_the_yaml_defaults_are_those_of_the_dataclass() -> None:
    assert load_config(Tree, DEFAULTS).camera == CameraConfig()


def test_the_yaml_names_every_field() -> None:
    text = DEFAULTS.read_text()
    for schema in (CameraConfig, GateConfig):
        assert [name for name in schema.__dataclass_fields__ if f"{name}:" not in text] == []


def test_limits_are_reduced_to_those_of_the_neck() -> None:
    config = CameraConfig().within(robot(Head("pan", "tilt", None)))
    ranges = (config.pan_lower, config.pan_upper, config.tilt_lower, config.tilt_upper)
    assert ranges == (-0.5, 0.6, -0.3, 1.5)
    assert (config.velocity, config.acceleration, config.jerk) == (2.0, 4.0, 40.0)


@pytest.mark.parametrize("head", [None, Head("pan", None, None)])
def test_a_robot_without_a_neck_is_refused(head: Head | None) -> None:
    with pytest.raises(ConfigError, match="thing"):
        CameraConfig().within(robot(head))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"pan_upper": -0.1}, "pan_upper"),
        ({"jerk": 0.0}, "jerk"),
        ({"ramp_time": 0.2}, "ramp_time"),
        ({"lead": 1.5}, "lead"),
        ({"gate": GateConfig(stale_after=0.09)}, "stale_after"),
    ],
)
def test_a_value_that_breaks_a_promise_is_refused_by_name(
    changes: dict[str, object], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        CameraConfig(**changes)  # type: ignore[arg-type]
