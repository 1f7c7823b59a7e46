# SPDX-License-Identifier: Apache-2.0
"""Every option that a stack can have."""

from collections.abc import Iterable
from dataclasses import replace

from teleop_system.stacks.options import Option, Target, Value

BRIDGE = ("mujoco_bridge",)
SIMULATED_OPERATOR = ("dummy_tracker_pub", "dummy_glove_pub", "dummy_hmd_pub")
RECORDING = ("bvh_replay_publisher",)
STREAM = ("rgbd_stream_node",)
MODULES = ("arm", "hand", "locomotion", "camera")
LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")

SIMULATED, EXTERNAL, MOCAP = "simulated", "external", "mocap"


def _bridge(name: str) -> tuple[Target, ...]:
    return (Target(name, BRIDGE),)


def _operator(name: str) -> tuple[Target, ...]:
    return (Target(name, SIMULATED_OPERATOR),)


# What every stack has.
COMMON = (
    Option(
        "robot",
        "",
        "Robot of `teleop robots`, or the path of a model's folder; the configuration's if empty.",
        targets=(Target("robot", BRIDGE), Target("overrides", override="robot.name")),
    ),
    Option(
        "topic_prefix",
        "",
        "First part of all topics and node names, so that several robots share one network.",
        targets=(Target("topic_prefix"),),
    ),
    Option(
        "use_sim_time",
        False,
        "Whether nodes live on the simulation's time on /clock; the wall's otherwise.",
        kind="bool",
        targets=(Target("use_sim_time"),),
    ),
    Option(
        "config_dir",
        "",
        "Folder of another configuration tree than the package's.",
        targets=(Target("config_dir"),),
    ),
    Option(
        "log_level",
        "info",
        "Least severe level that nodes log.",
        choices=LOG_LEVELS,
        targets=(Target("log_level"),),
    ),
)

# Behind all others, because what the user says in so many words wins.
OVERRIDES = Option(
    "overrides",
    (),
    "Changes to the configuration, key=value or group=option, separated by commas.",
    kind="list",
    targets=(Target("overrides"),),
)

ROBOT_SIDE = (
    Option(
        "scene",
        "",
        "Surroundings: a name of models/scenes, an MJCF file, or auto; the robot's own if empty.",
        targets=_bridge("scene"),
    ),
    Option(
        "pace",
        "real_time",
        "How the simulation keeps time; fast and stepped need use_sim_time.",
        choices=("real_time", "fast", "stepped"),
        targets=_bridge("pace"),
    ),
    Option(
        "physics_rate",
        500.0,
        "Steps of the physics per second [Hz].",
        kind="float",
        targets=_bridge("physics_rate"),
    ),
    Option(
        "publish_rate",
        100.0,
        "Robot states per second [Hz].",
        kind="float",
        targets=_bridge("publish_rate"),
    ),
    Option(
        "odom_rate",
        50.0,
        "Odometry messages per second [Hz].",
        kind="float",
        targets=_bridge("odom_rate"),
    ),
    Option(
        "publish_clock",
        True,
        "Whether simulated time is published on /clock; of several robots only one should.",
        kind="bool",
        targets=_bridge("publish_clock"),
    ),
    Option(
        "control_mode",
        "position",
        "How joints are driven to where the safety manager sends them.",
        choices=("position", "velocity", "effort"),
        targets=_bridge("control_mode"),
    ),
    Option(
        "camera",
        False,
        "Whether the robot's camera is rendered and published.",
        kind="bool",
        targets=_bridge("camera"),
    ),
    Option(
        "camera_name",
        "",
        "Camera of the model to publish; the head's if empty.",
        targets=_bridge("camera_name"),
    ),
    Option(
        "camera_fps",
        15.0,
        "Pictures per second [Hz].",
        kind="float",
        targets=_bridge("camera_fps"),
    ),
    Option(
        "camera_width",
        640,
        "Columns of a picture [px].",
        kind="int",
        targets=_bridge("camera_width"),
    ),
    Option(
        "camera_height",
        480,
        "Rows of a picture [px].",
        kind="int",
        targets=_bridge("camera_height"),
    ),
    Option(
        "stream",
        False,
        "Whether what the robot sees is streamed; it switches the simulated robot's camera on.",
        kind="bool",
    ),
    Option(
        "stream_host",
        "",
        "Address to stream from, with a token beyond this machine; the configuration's if empty.",
        targets=(Target("overrides", STREAM, override="streaming.host"),),
    ),
    Option(
        "stream_port",
        "",
        "Its TCP port, which a browser opens, too; the configuration's if empty.",
        kind="int",
        targets=(Target("overrides", STREAM, override="streaming.port"),),
    ),
    Option(
        "stream_token_file",
        "",
        "File with what clients must know, unless TELEOP_STREAM_TOKEN holds it.",
        targets=(Target("overrides", STREAM, override="streaming.token_file"),),
    ),
    Option(
        "viewer",
        False,
        "Whether a window shows the simulation.",
        kind="bool",
        targets=_bridge("viewer"),
    ),
    Option(
        "auto_engage",
        False,
        "Whether the robot lets the operator take control as soon as it is ready.",
        kind="bool",
        targets=_bridge("auto_engage"),
    ),
    Option(
        "self_test",
        True,
        "Whether the robot moves a little before an operator may take control.",
        kind="bool",
        targets=_bridge("self_test"),
    ),
)

MODULE_CHOICE = Option(
    "modules",
    MODULES,
    "Which controllers run, separated by commas.",
    kind="list",
    choices=MODULES,
)

OPERATOR = (
    Option(
        "motion",
        "",
        "How the simulated operator moves; the configuration's if empty.",
        choices=("", "human", "sinusoid"),
        # A motion is a group of the configuration: it brings an amplitude and a frequency along.
        targets=(Target("overrides", SIMULATED_OPERATOR, override="operator"),),
    ),
    Option(
        "amplitude",
        "",
        "Largest reach of the operator's hands [m]; the motion's own if empty.",
        kind="float",
        targets=_operator("amplitude"),
    ),
    Option(
        "frequency",
        "",
        "Reaches, or periods of the sine, per second [Hz]; the motion's own if empty.",
        kind="float",
        targets=_operator("frequency"),
    ),
    Option(
        "seed",
        "",
        "Which person moves, 0 or more; the configuration's if empty.",
        kind="int",
        targets=_operator("seed"),
    ),
)

WHOSE_OPERATOR = Option(
    "operator",
    SIMULATED,
    "Who moves the robot: simulated, or mocap for a recording.",
    choices=(SIMULATED, MOCAP),
    # Settings of an operator, which the controllers have to know, too.
    targets=(Target("overrides", override="hardware"),),
)

RECORDED = (
    Option(
        "file",
        "",
        "BVH recording to play, or one of our motions; empty for the one of the settings.",
        targets=(Target("file", RECORDING),),
    ),
    Option(
        "speed",
        1.0,
        "Speed of the replay; 1 is as recorded.",
        kind="float",
        targets=(Target("speed", RECORDING),),
    ),
    Option(
        "loop",
        False,
        "Whether the recording begins again at its end.",
        kind="bool",
        targets=(Target("loop", RECORDING),),
    ),
    Option(
        "autostart",
        True,
        "Whether the replay begins by itself; /teleop/start_playback does it otherwise.",
        kind="bool",
        targets=(Target("autostart", RECORDING),),
    ),
    Option(
        "record",
        "",
        "File .npz for what was sent and what the robot did, for `teleop replay` to score.",
        targets=(Target("record", RECORDING),),
    ),
)

REPLAY = (
    Option(
        "hardware",
        MOCAP,
        "Settings of a recorded operator, which the controllers have to know, too.",
        targets=(Target("overrides", override="hardware"),),
    ),
    *RECORDED,
)

# Whether a part is started here, or runs elsewhere: a vendor's driver, another machine.
DEVICES = Option(
    "devices",
    SIMULATED,
    "Who sends the operator's motion: simulated, or external for drivers started elsewhere.",
    choices=(SIMULATED, EXTERNAL),
)
ROBOT_NODE = Option(
    "robot_node",
    SIMULATED,
    "Who is the robot: simulated, or external for a robot whose node is started elsewhere.",
    choices=(SIMULATED, EXTERNAL),
)


def options(*groups: Option | Iterable[Option], **defaults: Value) -> dict[str, Option]:
    """Return the options of a stack by name: the common ones around the given, with defaults."""
    chosen: list[Option] = list(COMMON)
    for group in groups:
        chosen += [group] if isinstance(group, Option) else group
    by_name = {option.name: option for option in (*chosen, OVERRIDES)}
    for name, default in defaults.items():
        by_name[name] = replace(by_name[name], default=default)
    return by_name
