# SPDX-License-Identifier: Apache-2.0
"""The parameters of the MuJoCo bridge, and the settings they override."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, ParameterType

from teleop_system.robot_side.engagement import MotionSource
from teleop_system.simulators.mujoco_robot import MODES
from teleop_system.utils.validators import require_choice

PACES = ("real_time", "fast", "stepped")
GAINS = ("p", "i", "d")
MODEL_GAINS = [-1.0]
"""Value of a gain parameter that keeps the model's own gains."""


def _parameter(default: Any, text: str, low: float = 0.0, high: float = 0.0) -> Any:
    """Return a field with its description and its range, if any."""
    return field(default=default, metadata={"text": text, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class BridgeParameters:
    """The fixed parameters of the bridge; every field is a parameter of the same name."""

    robot: str = _parameter(
        "", "Robot name from `teleop robots`, or model folder; empty for that of the settings."
    )
    scene: str = _parameter("", "Surroundings of the robot; empty for those of the settings.")
    pace: str = _parameter(
        PACES[0], "real_time, fast (as the machine can) or stepped (by the service step)."
    )
    physics_rate: float = _parameter(500.0, "Physics steps per second in [Hz].", 50.0, 1e4)
    publish_rate: float = _parameter(
        100.0, "Joint states, targets and sensors per second in [Hz].", 1.0, 1e3
    )
    odom_rate: float = _parameter(50.0, "Odometry messages per second in [Hz].", 1.0, 1e3)
    publish_clock: bool = _parameter(
        True, "Publish simulated time on /clock; only one of several bridges may do so."
    )
    camera: bool = _parameter(False, "Publish camera images.")
    camera_name: str = _parameter("", "Camera of the model; empty for the robot's head.")
    camera_fps: float = _parameter(15.0, "Images per second in [Hz].", 0.1, 120.0)
    camera_width: int = _parameter(640, "Columns of an image in [px].", 16, 8192)
    camera_height: int = _parameter(480, "Rows of an image in [px].", 16, 8192)
    viewer: bool = _parameter(False, "Show the simulation in a window.")
    auto_engage: bool = _parameter(
        False, "Engage automatically; only for simulated or recorded operators."
    )
    self_test: bool = _parameter(
        True, "Move the hands a little before an operator may take control."
    )

    def __post_init__(self) -> None:
        require_choice(self, "pace", PACES)

    def overrides(self) -> list[str]:
        """Return the settings that these parameters override."""
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
            description="How joints reach the safety manager's positions: "
            f"{', '.join(MODES)}. It cannot change while the robot moves or is stopped."
        ),
    )
    for gain in GAINS:
        text = (
            f"Gain {gain} of effort mode: one for all joints, or one for each in the order of "
            "/slave/joint_targets; -1 keeps the model's own. Changes as control_mode does."
        )
        kind = ParameterType.PARAMETER_DOUBLE_ARRAY
        descriptor = ParameterDescriptor(type=kind, description=text)
        node.declare_parameter(f"pid_{gain}", MODEL_GAINS, descriptor)


def differing(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names of parameters with a new value."""

    def plain(value: Any) -> Any:
        return value if isinstance(value, str) else list(value or ())

    return [name for name, value in wanted.items() if plain(kept[name]) != plain(value)]


def refusal(changes: Sequence[str], motion: MotionSource, *, estopped: bool) -> str:
    """Return why live parameters cannot be changed now; empty where they can.

    They set how stiffly the robot holds its position, so they stay as they are while the robot is
    engaged or moves, and while an emergency stop is latched.

    Args:
        changes: The names of the parameters to change.
        motion: Who moves the robot.
        estopped: Whether the emergency stop is latched.
    """
    names = ", ".join(changes)
    if estopped:
        return f"{names} cannot be changed while the emergency stop is latched; reset it first"
    if motion is not MotionSource.NONE:
        return f"{names} cannot be changed while the robot moves; disengage first"
    return ""


def read(node: Any) -> BridgeParameters:
    """Return the fixed parameters of a node.

    Raises:
        ConfigError: A parameter has an invalid value.
    """
    names = [entry.name for entry in fields(BridgeParameters)]
    return BridgeParameters(**{name: node.get_parameter(name).value for name in names})
