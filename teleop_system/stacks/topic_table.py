# SPDX-License-Identifier: Apache-2.0
"""Table of all topics and services; the source of `docs/topics.md`.

`python -m teleop_system.stacks.topic_table > docs/topics.md` writes the page.
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
ALL_NODES = (BRIDGE, *MODULES, STREAM, TRACKERS, GLOVES, HMD, REPLAY)

SENSOR, COMMAND, STATUS = QoSPreset.SENSOR_DATA, QoSPreset.COMMAND, QoSPreset.STATUS
POSE, JOINTS = "geometry_msgs/msg/PoseStamped", "sensor_msgs/msg/JointState"
IMAGE, TRAJECTORY = "sensor_msgs/msg/Image", "trajectory_msgs/msg/JointTrajectory"
ARRAY = "diagnostic_msgs/msg/DiagnosticArray"
CAMERA_RATE = "`camera_fps`"


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic.

    Attributes:
        name: Name from `TopicNames`; `/*` is replaced by the name of a sensor.
        type: Message type.
        qos: QoS preset.
        rate: Messages per second in [Hz], or a description.
        publishers: Nodes of the package that publish it.
        subscribers: Nodes of the package that subscribe, some only on demand.
        content: Content.
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
    """One service, always a `std_srvs/srv/Trigger`; a refusal has its reason in the answer."""

    name: str
    server: str
    content: str


def _tracker(name: str, subscribers: tuple[str, ...], body: str) -> TopicRow:
    return TopicRow(name, POSE, SENSOR, "100", (TRACKERS, REPLAY), subscribers, body)


def _command(
    name: str, rate: str, publishers: tuple[str, ...], content: str, type_: str = JOINTS
) -> TopicRow:
    return TopicRow(name, type_, COMMAND, rate, publishers, (BRIDGE,), content)


def _state(
    name: str, type_: str, rate: str, content: str, subscribers: tuple[str, ...] = ()
) -> TopicRow:
    return TopicRow(name, type_, SENSOR, rate, (BRIDGE,), subscribers, content)


def _glove(name: str) -> TopicRow:
    return TopicRow(
        name, JOINTS, SENSOR, "100", (GLOVES, REPLAY), (HAND,), "20 finger angles [rad]"
    )


def _status(name: str, rate: str, subscribers: tuple[str, ...], content: str) -> TopicRow:
    return TopicRow(name, ARRAY, STATUS, rate, ALL_NODES, subscribers, content)


TOPICS = (
    _tracker(TopicNames.RIGHT_TRACKER, (ARM,), "right hand"),
    _tracker(TopicNames.LEFT_TRACKER, (ARM,), "left hand"),
    _tracker(TopicNames.WAIST_TRACKER, (ARM, BASE), "waist"),
    _tracker(TopicNames.RIGHT_FOOT_TRACKER, (BASE,), "right foot"),
    _tracker(TopicNames.LEFT_FOOT_TRACKER, (BASE,), "left foot"),
    TopicRow(
        TopicNames.HMD_ORIENTATION,
        "geometry_msgs/msg/QuaternionStamped",
        SENSOR,
        "90",
        (HMD, REPLAY),
        (ARM, HEAD),
        "orientation of the operator's head",
    ),
    _glove(TopicNames.LEFT_HAND_JOINTS),
    _glove(TopicNames.RIGHT_HAND_JOINTS),
    _command(TopicNames.LEFT_ARM_CMD, "100", (ARM,), "positions [rad]"),
    _command(TopicNames.RIGHT_ARM_CMD, "100", (ARM,), "positions [rad]"),
    _command(TopicNames.TORSO_CMD, "100", (ARM,), "positions [rad]"),
    _command(TopicNames.LEFT_HAND_CMD, "100", (HAND,), "positions [rad], of a gripper [m]"),
    _command(TopicNames.RIGHT_HAND_CMD, "100", (HAND,), "positions [rad], of a gripper [m]"),
    _command(
        TopicNames.BASE_CMD_VEL,
        "50",
        (BASE,),
        "velocities [m/s], [rad/s]",
        "geometry_msgs/msg/Twist",
    ),
    _command(TopicNames.CAMERA_PAN_TILT_CMD, "30", (HEAD, STREAM), "pan and tilt [rad]"),
    *(
        _command(name, "on demand", (), "for other tools; interpolated", TRAJECTORY)
        for name in (
            TopicNames.LEFT_ARM_TRAJECTORY,
            TopicNames.RIGHT_ARM_TRAJECTORY,
            TopicNames.TORSO_TRAJECTORY,
        )
    ),
    _command(
        TopicNames.JOINT_POSITIONS,
        "on demand",
        (),
        "all joints in the order of joint_targets, for other tools",
        "std_msgs/msg/Float64MultiArray",
    ),
    _state(
        TopicNames.JOINT_STATES,
        JOINTS,
        "100",
        "position, velocity, effort of all joints",
        (STREAM,),
    ),
    _state(TopicNames.JOINT_TARGETS, JOINTS, "100", "output of the safety manager", MODULES),
    _state(TopicNames.BASE_ODOM, "nav_msgs/msg/Odometry", "50", "pose of the base in `odom`"),
    _state(f"{TopicNames.IMU}/*", "sensor_msgs/msg/Imu", "100", "one per sensor of the model"),
    _state(
        f"{TopicNames.FORCE_TORQUE}/*",
        "geometry_msgs/msg/WrenchStamped",
        "100",
        "one per sensor of the model [N], [N m]",
    ),
    _state(TopicNames.CAMERA_COLOR_IMAGE, IMAGE, CAMERA_RATE, "rgb8, if `camera`", (STREAM,)),
    _state(TopicNames.CAMERA_DEPTH_IMAGE, IMAGE, CAMERA_RATE, "32FC1 [m], if `camera`", (STREAM,)),
    _state(
        TopicNames.CAMERA_INFO,
        "sensor_msgs/msg/CameraInfo",
        CAMERA_RATE,
        "if `camera`",
        (STREAM,),
    ),
    _state(TopicNames.CLOCK, "rosgraph_msgs/msg/Clock", "100", "simulated time; never prefixed"),
    _status(
        TopicNames.STATUS,
        "2 to 5 per node",
        (BRIDGE, *MODULES, REPLAY),
        "state, rates, latencies, causes",
    ),
    _status(
        TopicNames.DIAGNOSTICS,
        "0.4 to 1 per node",
        (),
        "the same for ROS 2's own tools; never prefixed",
    ),
    _command(
        TopicNames.CLUTCH,
        "10 and on change",
        (CLUTCH_KEYS,),
        "whether the operator's motion counts",
        "std_msgs/msg/Bool",
    ),
)

SERVICES = (
    ServiceRow(TopicNames.ESTOP, BRIDGE, "emergency stop, latched; holds position under power"),
    ServiceRow(TopicNames.RESET_ESTOP, BRIDGE, "release the emergency stop; engage comes next"),
    ServiceRow(TopicNames.ENGAGE, BRIDGE, "give the operator control"),
    ServiceRow(TopicNames.DISENGAGE, BRIDGE, "take control from the operator"),
    ServiceRow(TopicNames.CALIBRATE, ARM, "measure the operator in the A-pose"),
    ServiceRow(TopicNames.START_PLAYBACK, REPLAY, "start or resume the playback"),
    ServiceRow(TopicNames.STOP_PLAYBACK, REPLAY, "pause the playback"),
    ServiceRow(TopicNames.SIMULATION_PAUSE, BRIDGE, "pause simulated time"),
    ServiceRow(TopicNames.SIMULATION_RESUME, BRIDGE, "resume simulated time"),
    ServiceRow(TopicNames.SIMULATION_STEP, BRIDGE, "run one control cycle while paused"),
    ServiceRow(TopicNames.SIMULATION_RESET, BRIDGE, "reset the simulation"),
)

INTRODUCTION = """\
# Topics and services

Written by `python -m teleop_system.stacks.topic_table`, from a table that the tests compare with
the running nodes. Names are absolute. The parameter `topic_prefix` precedes all names but
`/clock` and `/diagnostics`, so that several robots can share one network.

| preset | reliability | durability | depth |
|---|---|---|---|
| SENSOR_DATA | best effort | volatile | 1 |
| COMMAND | reliable | volatile | 1 |
| STATUS | reliable | transient local | 10 |

A joint command names its joints. Their order is never assumed, and unknown or missing names are
rejected with a cause. `header.stamp` is the measurement time of the *operator's* sample, from the
device to the command, so the age of a command is its latency. Nodes send commands only while they
are active and the robot side reports that it follows.
"""


def page() -> str:
    """Return the Markdown page."""
    return "\n".join([INTRODUCTION, *_topic_lines(), "", *_service_lines(), ""])


def _topic_lines() -> Iterator[str]:
    yield "## Topics\n"
    yield "| topic | type | QoS | Hz | from | to | content |"
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
    yield "All are `std_srvs/Trigger`; a refusal has its reason in the answer.\n"
    yield "| service | node | action |"
    yield "|---|---|---|"
    for row in SERVICES:
        yield f"| `{row.name}` | {row.server} | {row.content} |"


def _nodes(names: tuple[str, ...]) -> str:
    if names == ALL_NODES:
        return "every node"
    return ", ".join(names) or "other tools"


if __name__ == "__main__":
    sys.stdout.write(page())
