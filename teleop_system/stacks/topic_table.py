# SPDX-License-Identifier: Apache-2.0
"""Every topic and service: type, delivery, rate, and who is at its ends; makes `docs/topics.md`.

`python -m teleop_system.stacks.topic_table > docs/topics.md` writes the page anew.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

BRIDGE, CLUTCH_KEYS = "mujoco_bridge", "clutch_keyboard"
ARM, HAND, BASE, HEAD = "arm_teleop_node", "hand_teleop_node", "locomotion_node", "camera_node"
TRACKERS, GLOVES, HMD = "dummy_tracker_pub", "dummy_glove_pub", "dummy_hmd_pub"
REPLAY, STREAM = "bvh_replay_publisher", "rgbd_stream_node"
MODULES = (ARM, HAND, BASE, HEAD)
EVERYBODY = (BRIDGE, *MODULES, STREAM, TRACKERS, GLOVES, HMD, REPLAY)

SENSOR, COMMAND, STATUS = QoSPreset.SENSOR_DATA, QoSPreset.COMMAND, QoSPreset.STATUS
POSE, JOINTS = "geometry_msgs/msg/PoseStamped", "sensor_msgs/msg/JointState"
IMAGE, TRAJECTORY = "sensor_msgs/msg/Image", "trajectory_msgs/msg/JointTrajectory"
ARRAY, TRIGGER = "diagnostic_msgs/msg/DiagnosticArray", "std_srvs/srv/Trigger"


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic.

    Attributes:
        name: Of `TopicNames`; with `/*` where the name of a sensor follows.
        type: Of its messages.
        qos: How they are delivered.
        rate: Messages per second in [Hz]; a text where there is no one number.
        publishers: Nodes of ours that send it.
        subscribers: Nodes of ours that listen to it; `joint_targets` only where they need it.
        content: What it carries.
    """

    name: str
    type: str
    qos: QoSPreset
    rate: str
    publishers: tuple[str, ...]
    subscribers: tuple[str, ...]
    content: str


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """One service, always a `std_srvs/srv/Trigger` whose answer says why it refuses."""

    name: str
    server: str
    content: str


TOPICS = (
    TopicRow(
        TopicNames.RIGHT_TRACKER, POSE, SENSOR, "100", (TRACKERS, REPLAY), (ARM,), "right hand"
    ),
    TopicRow(
        TopicNames.LEFT_TRACKER, POSE, SENSOR, "100", (TRACKERS, REPLAY), (ARM,), "left hand"
    ),
    TopicRow(
        TopicNames.WAIST_TRACKER, POSE, SENSOR, "100", (TRACKERS, REPLAY), (ARM, BASE), "waist"
    ),
    TopicRow(
        TopicNames.RIGHT_FOOT_TRACKER,
        POSE,
        SENSOR,
        "100",
        (TRACKERS, REPLAY),
        (BASE,),
        "right foot",
    ),
    TopicRow(
        TopicNames.LEFT_FOOT_TRACKER, POSE, SENSOR, "100", (TRACKERS, REPLAY), (BASE,), "left foot"
    ),
    TopicRow(
        TopicNames.HMD_ORIENTATION,
        "geometry_msgs/msg/QuaternionStamped",
        SENSOR,
        "90",
        (HMD, REPLAY),
        (ARM, HEAD),
        "where the operator looks",
    ),
    TopicRow(
        TopicNames.LEFT_HAND_JOINTS,
        JOINTS,
        SENSOR,
        "100",
        (GLOVES, REPLAY),
        (HAND,),
        "20 finger angles [rad]",
    ),
    TopicRow(
        TopicNames.RIGHT_HAND_JOINTS,
        JOINTS,
        SENSOR,
        "100",
        (GLOVES, REPLAY),
        (HAND,),
        "20 finger angles [rad]",
    ),
    TopicRow(
        TopicNames.LEFT_ARM_CMD, JOINTS, COMMAND, "100", (ARM,), (BRIDGE,), "positions [rad]"
    ),
    TopicRow(
        TopicNames.RIGHT_ARM_CMD, JOINTS, COMMAND, "100", (ARM,), (BRIDGE,), "positions [rad]"
    ),
    TopicRow(TopicNames.TORSO_CMD, JOINTS, COMMAND, "100", (ARM,), (BRIDGE,), "positions [rad]"),
    TopicRow(
        TopicNames.LEFT_HAND_CMD,
        JOINTS,
        COMMAND,
        "100",
        (HAND,),
        (BRIDGE,),
        "positions [rad], of a gripper [m]",
    ),
    TopicRow(
        TopicNames.RIGHT_HAND_CMD,
        JOINTS,
        COMMAND,
        "100",
        (HAND,),
        (BRIDGE,),
        "positions [rad], of a gripper [m]",
    ),
    TopicRow(
        TopicNames.BASE_CMD_VEL,
        "geometry_msgs/msg/Twist",
        COMMAND,
        "50",
        (BASE,),
        (BRIDGE,),
        "velocities [m/s], [rad/s]",
    ),
    TopicRow(
        TopicNames.CAMERA_PAN_TILT_CMD,
        JOINTS,
        COMMAND,
        "30",
        (HEAD, STREAM),
        (BRIDGE,),
        "head [rad]",
    ),
    TopicRow(
        TopicNames.LEFT_ARM_TRAJECTORY,
        TRAJECTORY,
        COMMAND,
        "on demand",
        (),
        (BRIDGE,),
        "for other tools; interpolated",
    ),
    TopicRow(
        TopicNames.RIGHT_ARM_TRAJECTORY,
        TRAJECTORY,
        COMMAND,
        "on demand",
        (),
        (BRIDGE,),
        "for other tools; interpolated",
    ),
    TopicRow(
        TopicNames.TORSO_TRAJECTORY,
        TRAJECTORY,
        COMMAND,
        "on demand",
        (),
        (BRIDGE,),
        "for other tools; interpolated",
    ),
    TopicRow(
        TopicNames.JOINT_POSITIONS,
        "std_msgs/msg/Float64MultiArray",
        COMMAND,
        "on demand",
        (),
        (BRIDGE,),
        "all joints in the order of joint_targets, for other tools",
    ),
    TopicRow(
        TopicNames.JOINT_STATES,
        JOINTS,
        SENSOR,
        "100",
        (BRIDGE,),
        (STREAM,),
        "every joint: position, velocity, effort",
    ),
    TopicRow(
        TopicNames.JOINT_TARGETS,
        JOINTS,
        SENSOR,
        "100",
        (BRIDGE,),
        MODULES,
        "where the safety manager sends the joints",
    ),
    TopicRow(
        TopicNames.BASE_ODOM,
        "nav_msgs/msg/Odometry",
        SENSOR,
        "50",
        (BRIDGE,),
        (),
        "the base in `odom`",
    ),
    TopicRow(
        f"{TopicNames.IMU}/*",
        "sensor_msgs/msg/Imu",
        SENSOR,
        "100",
        (BRIDGE,),
        (),
        "one per sensor of the model",
    ),
    TopicRow(
        f"{TopicNames.FORCE_TORQUE}/*",
        "geometry_msgs/msg/WrenchStamped",
        SENSOR,
        "100",
        (BRIDGE,),
        (),
        "one per sensor of the model [N], [N m]",
    ),
    TopicRow(
        TopicNames.CAMERA_COLOR_IMAGE,
        IMAGE,
        SENSOR,
        "`camera_fps`",
        (BRIDGE,),
        (STREAM,),
        "rgb8, where `camera` is on",
    ),
    TopicRow(
        TopicNames.CAMERA_DEPTH_IMAGE,
        IMAGE,
        SENSOR,
        "`camera_fps`",
        (BRIDGE,),
        (STREAM,),
        "32FC1 [m], where `camera` is on",
    ),
    TopicRow(
        TopicNames.CAMERA_INFO,
        "sensor_msgs/msg/CameraInfo",
        SENSOR,
        "`camera_fps`",
        (BRIDGE,),
        (STREAM,),
        "where `camera` is on",
    ),
    TopicRow(
        TopicNames.CLOCK,
        "rosgraph_msgs/msg/Clock",
        SENSOR,
        "100",
        (BRIDGE,),
        (),
        "simulated time; never prefixed",
    ),
    TopicRow(
        TopicNames.STATUS,
        ARRAY,
        STATUS,
        "2 to 5 a node",
        EVERYBODY,
        (BRIDGE, *MODULES, REPLAY),
        "state, rates, latencies, causes",
    ),
    TopicRow(
        TopicNames.DIAGNOSTICS,
        ARRAY,
        STATUS,
        "0.4 to 1 a node",
        EVERYBODY,
        (),
        "the same for ROS 2's own tools; never prefixed",
    ),
    TopicRow(
        TopicNames.CLUTCH,
        "std_msgs/msg/Bool",
        COMMAND,
        "10 and on change",
        (CLUTCH_KEYS,),
        (BRIDGE,),
        "whether the operator's motion counts",
    ),
)

SERVICES = (
    ServiceRow(TopicNames.ESTOP, BRIDGE, "stop at once, latched; holds position under power"),
    ServiceRow(TopicNames.RESET_ESTOP, BRIDGE, "let go of the stop; engage comes next"),
    ServiceRow(TopicNames.ENGAGE, BRIDGE, "let the operator take control"),
    ServiceRow(TopicNames.DISENGAGE, BRIDGE, "take control from the operator"),
    ServiceRow(TopicNames.CALIBRATE, ARM, "measure the operator, who stands in the A-pose"),
    ServiceRow(TopicNames.START_PLAYBACK, REPLAY, "begin, or go on with, the recording"),
    ServiceRow(TopicNames.STOP_PLAYBACK, REPLAY, "stay where the recording is"),
    ServiceRow(TopicNames.SIMULATION_PAUSE, BRIDGE, "let simulated time stand still"),
    ServiceRow(TopicNames.SIMULATION_RESUME, BRIDGE, "let it pass again"),
    ServiceRow(TopicNames.SIMULATION_STEP, BRIDGE, "let one control cycle pass while paused"),
    ServiceRow(TopicNames.SIMULATION_RESET, BRIDGE, "put the robot back where it started"),
)

INTRODUCTION = """\
# Topics and services

Written by `python -m teleop_system.stacks.topic_table`, from the table that the tests hold against
the running nodes. Names are absolute; the parameter `topic_prefix` puts a robot's name in front of
all of them but `/clock` and `/diagnostics`, so that several robots share one network.

| preset | reliability | durability | depth |
|---|---|---|---|
| SENSOR_DATA | best effort | volatile | 1 |
| COMMAND | reliable | volatile | 1 |
| STATUS | reliable | transient local | 10 |

A joint command names its joints; their order is never assumed, and unknown or missing names are
refused with a cause. `header.stamp` is when the *operator's* sample was measured, from the device
to the command, so the age of a command is its latency. Commands are sent only by nodes that are
active, and only while the robot's side says that it follows.
"""


def page() -> str:
    """Return the page about topics and services."""
    return "\n".join([INTRODUCTION, *_topic_lines(), "", *_service_lines(), ""])


def _topic_lines() -> Iterator[str]:
    yield "## Topics\n"
    yield "| topic | type | QoS | Hz | from | to | what |"
    yield "|---|---|---|---|---|---|---|"
    for row in TOPICS:
        cells = (
            f"`{row.name}`",
            row.type.replace("/msg/", "/"),
            row.qos.name,
            row.rate,
            _nodes(row.publishers),
            _nodes(row.subscribers),
            row.content,
        )
        yield f"| {' | '.join(cells)} |"


def _service_lines() -> Iterator[str]:
    yield "## Services\n"
    yield "All are `std_srvs/Trigger`; an answer that refuses says why.\n"
    yield "| service | of | what it does |"
    yield "|---|---|---|"
    for row in SERVICES:
        yield f"| `{row.name}` | {row.server} | {row.content} |"


def _nodes(names: tuple[str, ...]) -> str:
    if names == EVERYBODY:
        return "every node"
    return ", ".join(names) or "yours"


if __name__ == "__main__":
    sys.stdout.write(page())
