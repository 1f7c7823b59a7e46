# SPDX-License-Identifier: Apache-2.0
"""All options of all stacks."""

from collections.abc import Iterable
from dataclasses import replace

from teleop_system.stacks.options import Kind, Option, Target, Value

BRIDGE = ("mujoco_bridge",)
SIMULATED_OPERATOR = ("dummy_tracker_pub", "dummy_glove_pub", "dummy_hmd_pub")
RECORDING = ("bvh_replay_publisher",)
STREAM = ("rgbd_stream_node",)
MODULES = ("arm", "hand", "locomotion", "camera")
LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")

SIMULATED, EXTERNAL, MOCAP = "simulated", "external", "mocap"
KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float", str: "str", tuple: "list"}


def _option(
    name: str,
    default: Value,
    description: str,
    *targets: Target,
    kind: Kind | None = None,
    choices: tuple[str, ...] = (),
) -> Option:
    """Return an option; its kind follows from the default unless that is empty."""
    kind = kind or KINDS[type(default)]
    return Option(name, default, description, kind, choices, targets)


def _for(
    nodes: tuple[str, ...],
    name: str,
    default: Value,
    description: str,
    kind: Kind | None = None,
    choices: tuple[str, ...] = (),
) -> Option:
    """Return an option that sets the parameter of the same name of some nodes."""
    return _option(name, default, description, Target(name, nodes), kind=kind, choices=choices)


def _override(key: str, nodes: tuple[str, ...] = ()) -> Target:
    return Target("overrides", nodes, override=key)


COMMON = (
    _option(
        "robot",
        "",
        "Robot name from `teleop robots`, or path of a model folder (empty: as configured).",
        Target("robot", BRIDGE),
        _override("robot.name"),
    ),
    _for(
        (),
        "topic_prefix",
        "",
        "Prefix of all topics and node names, so that several robots share one network.",
    ),
    _for((), "use_sim_time", False, "Use simulated time from /clock instead of wall time."),
    _for((), "config_dir", "", "Folder of another configuration tree."),
    _for((), "log_level", "info", "Least severe level in the nodes' logs.", choices=LOG_LEVELS),
)
"""Options of every stack."""

OVERRIDES = _for(
    (),
    "overrides",
    (),
    "Changes to the configuration, key=value or group=option, separated by commas.",
)
"""Last of all options, because explicit changes of the user have priority."""

ROBOT_SIDE = (
    _for(
        BRIDGE,
        "scene",
        "",
        "Scene: a name from models/scenes, an MJCF file, or auto (empty: as configured).",
    ),
    _for(
        BRIDGE,
        "pace",
        "real_time",
        "Speed of the simulation; fast and stepped need use_sim_time.",
        choices=("real_time", "fast", "stepped"),
    ),
    _for(BRIDGE, "physics_rate", 500.0, "Physics steps per second [Hz]."),
    _for(BRIDGE, "publish_rate", 100.0, "Robot states per second [Hz]."),
    _for(BRIDGE, "odom_rate", 50.0, "Odometry messages per second [Hz]."),
    _for(
        BRIDGE,
        "publish_clock",
        True,
        "Publish simulated time on /clock; of several robots only one may do so.",
    ),
    _for(
        BRIDGE,
        "control_mode",
        "position",
        "How motors follow the output of the safety manager.",
        choices=("position", "velocity", "effort"),
    ),
    _for(BRIDGE, "camera", False, "Render and publish the robot's camera."),
    _for(BRIDGE, "camera_name", "", "Camera of the model (empty: the head camera)."),
    _for(BRIDGE, "camera_fps", 15.0, "Camera frames per second [Hz]."),
    _for(BRIDGE, "camera_width", 640, "Image width [px]."),
    _for(BRIDGE, "camera_height", 480, "Image height [px]."),
    _option("stream", False, "Stream the robot's camera; switches the camera on."),
    _option(
        "stream_host",
        "",
        "Address of the stream server; other machines need a token (empty: as configured).",
        _override("streaming.host", STREAM),
    ),
    _option(
        "stream_port",
        "",
        "TCP port of the stream and of its web page (empty: as configured).",
        _override("streaming.port", STREAM),
        kind="int",
    ),
    _option(
        "stream_token_file",
        "",
        "File with the token of the clients; TELEOP_STREAM_TOKEN overrides it.",
        _override("streaming.token_file", STREAM),
    ),
    _for(BRIDGE, "viewer", False, "Show the simulation in a window."),
    _for(BRIDGE, "auto_engage", False, "Engage as soon as the robot is ready."),
    _for(BRIDGE, "self_test", True, "Move the robot a little before it is ready to engage."),
)

MODULE_CHOICE = _option(
    "modules", MODULES, "Controllers to run, separated by commas.", choices=MODULES
)

OPERATOR = (
    _option(
        "motion",
        "",
        "Motion of the simulated operator (empty: as configured).",
        # A motion is a group of the configuration: it also sets amplitude and frequency.
        _override("operator", SIMULATED_OPERATOR),
        choices=("", "human", "sinusoid"),
    ),
    _for(
        SIMULATED_OPERATOR,
        "amplitude",
        "",
        "Largest displacement of the operator's hands [m] (empty: that of the motion).",
        "float",
    ),
    _for(
        SIMULATED_OPERATOR,
        "frequency",
        "",
        "Movements, or periods of the sine, per second [Hz] (empty: that of the motion).",
        "float",
    ),
    _for(
        SIMULATED_OPERATOR,
        "seed",
        "",
        "Seed of the simulated person, 0 or more (empty: as configured).",
        "int",
    ),
)

OPERATOR_CHOICE = _option(
    "operator",
    SIMULATED,
    "Operator: simulated, or mocap for a recording.",
    # The group has settings of an operator that the controllers need as well.
    _override("hardware"),
    choices=(SIMULATED, MOCAP),
)

PLAYBACK = (
    _for(
        RECORDING,
        "file",
        "",
        "BVH file, or name of a motion of the package (empty: as configured).",
    ),
    _for(RECORDING, "speed", 1.0, "Playback speed; 1 is real time."),
    _for(RECORDING, "loop", False, "Repeat the recording."),
    _for(
        RECORDING,
        "autostart",
        True,
        "Start the playback once the robot follows; otherwise call /teleop/start_playback.",
    ),
    _for(
        RECORDING,
        "record",
        "",
        "File (.npz) for commands and measured motion; `teleop replay` scores it.",
    ),
)

REPLAY = (
    _option(
        "hardware",
        MOCAP,
        "Settings of a recorded operator, for the controllers.",
        _override("hardware"),
    ),
    *PLAYBACK,
)

DEVICES = _option(
    "devices",
    SIMULATED,
    "Source of the operator's motion: simulated, or external for drivers started elsewhere.",
    choices=(SIMULATED, EXTERNAL),
)
ROBOT_NODE = _option(
    "robot_node",
    SIMULATED,
    "The robot: simulated, or external for a robot node started elsewhere.",
    choices=(SIMULATED, EXTERNAL),
)


def stack_options(*groups: Option | Iterable[Option], **defaults: Value) -> dict[str, Option]:
    """Return the options of a stack by name: common ones, groups and overrides, with defaults."""
    chosen: list[Option] = list(COMMON)
    for group in groups:
        chosen += [group] if isinstance(group, Option) else group
    by_name = {option.name: option for option in (*chosen, OVERRIDES)}
    for name, default in defaults.items():
        by_name[name] = replace(by_name[name], default=default)
    return by_name
