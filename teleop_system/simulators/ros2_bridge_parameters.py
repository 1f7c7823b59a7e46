# SPDX-License-Identifier: Apache-2.0
"""The parameters of the MuJoCo bridge, and the settings that they stand for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, ParameterType

from teleop_system.robot_side.driven_side import MODES
from teleop_system.robot_side.engagement import MotionSource
from teleop_system.utils.validators import require_choice

PACES = ("real_time", "fast", "stepped")
GAINS = ("p", "i", "d")
MODEL_GAINS = [-1.0]
"""What the gain parameters are while the model's own gains hold."""


def _parameter(default: Any, text: str, low: float = 0.0, high: float = 0.0) -> Any:
    """Return a field that knows how it is described, and its range where it has one."""
    return field(default=default, metadata={"text": text, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class BridgeParameters:
    """What the bridge was asked to be; every field is a parameter of the same name."""

    robot: str = _parameter(
        "", "A robot of `teleop robots`, or a folder with a model; empty as the settings say."
    )
    scene: str = _parameter("", "Surroundings of the robot; empty as the settings say.")
    pace: str = _parameter(
        PACES[0], "real_time, fast (as the machine can) or stepped (by the service step)."
    )
    physics_rate: float = _parameter(500.0, "Physics steps per second in [Hz].", 50.0, 1e4)
    publish_rate: float = _parameter(
        100.0, "Joint states, targets and sensors per second in [Hz].", 1.0, 1e3
    )
    odom_rate: float = _parameter(50.0, "Odometry messages per second in [Hz].", 1.0, 1e3)
    publish_clock: bool = _parameter(
        True, "Publish simulated time on /clock; of several bridges only one should."
    )
    camera: bool = _parameter(False, "Publish pictures.")
    camera_name: str = _parameter("", "Camera of the model; empty for the robot's head.")
    camera_fps: float = _parameter(15.0, "Pictures per second in [Hz].", 0.1, 120.0)
    camera_width: int = _parameter(640, "Columns of a picture in [px].", 16, 8192)
    camera_height: int = _parameter(480, "Rows of a picture in [px].", 16, 8192)
    viewer: bool = _parameter(False, "Show the simulation in a window.")
    auto_engage: bool = _parameter(
        False, "Take control by itself; only for operators who are simulated or recorded."
    )
    self_test: bool = _parameter(
        True, "Move the hands a little before an operator may take control."
    )

    def __post_init__(self) -> None:
        require_choice(self, "pace", PACES)

    def overrides(self) -> list[str]:
        """Return the settings that these parameters stand for."""
        found = [
            f"simulation.timestep={1.0 / self.physics_rate!r}",
            f"simulation.render={str(self.camera).lower()}",
            f"simulation.width={self.camera_width}",
            f"simulation.height={self.camera_height}",
            f"session.self_test={str(self.self_test).lower()}",
        ]
        if self.robot:
            found.append(f"robot.name={self.robot}")
        if self.scene:
            found.append(f"robot.scene={self.scene}")
        return found


def declare(node: Any) -> None:
    """Declare the parameters of a bridge on its `TeleopNode`."""
    for entry in fields(BridgeParameters):
        low, high = entry.metadata["low"], entry.metadata["high"]
        limits: dict[str, Any] = {}
        if high and isinstance(entry.default, float):
            bounds = FloatingPointRange(from_value=float(low), to_value=float(high))
            limits["floating_point_range"] = [bounds]
        elif high:
            span = IntegerRange(from_value=int(low), to_value=int(high), step=1)
            limits["integer_range"] = [span]
        node.fixed_parameter(entry.name, entry.default, entry.metadata["text"], **limits)
    node.declare_parameter(
        "control_mode",
        MODES[0],
        ParameterDescriptor(
            description="How joints are driven to the safety manager's positions: "
            f"{', '.join(MODES)}. It cannot be changed while the robot moves or is stopped."
        ),
    )
    for gain in GAINS:
        text = (
            f"Gain {gain} of effort mode: one for all joints, or one for each in the order of "
            "/slave/joint_targets; -1 takes the model's own. As for control_mode."
        )
        kind = ParameterType.PARAMETER_DOUBLE_ARRAY
        descriptor = ParameterDescriptor(type=kind, description=text)
        node.declare_parameter(f"pid_{gain}", MODEL_GAINS, descriptor)


def differing(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names of parameters that should become something else than they are."""

    def plain(value: Any) -> Any:
        return value if isinstance(value, str) else list(value or ())

    return [name for name, value in wanted.items() if plain(kept[name]) != plain(value)]


def refusal(changes: Sequence[str], motion: MotionSource, *, estopped: bool) -> str:
    """Return why live parameters cannot be changed now; empty where they can.

    They decide how firmly the robot holds its position, so nobody may turn them while somebody has
    control of it, or while it has to hold after an emergency stop, whatever became of the node.

    Args:
        changes: The names of those that should be changed.
        motion: Who moves the robot.
        estopped: Whether the emergency stop is latched.
    """
    names = ", ".join(changes)
    if estopped:
        return f"{names} cannot be changed while the emergency stop is latched; reset it first"
    if motion is not MotionSource.NOBODY:
        return f"{names} cannot be changed while the robot moves; disengage first"
    return ""


def read(node: Any) -> BridgeParameters:
    """Return what the parameters of a node say.

    Raises:
        ConfigError: One of them cannot be used.
    """
    names = [entry.name for entry in fields(BridgeParameters)]
    return BridgeParameters(**{name: node.get_parameter(name).value for name in names})
