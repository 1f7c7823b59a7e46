# SPDX-License-Identifier: Apache-2.0
"""The stacks and their nodes."""

from teleop_system.exceptions import UnknownNameError
from teleop_system.stacks import option_catalogue as opt
from teleop_system.stacks.description import Condition, Member, NodeKind, Stack, Stage

MUJOCO_BRIDGE = NodeKind(
    "mujoco_bridge",
    "teleop_system.simulators.mujoco_ros2_bridge",
    "MuJoCoBridge",
    Stage.ROBOT,
    "the robot in MuJoCo, with the robot side",
)
ARM = NodeKind(
    "arm_teleop_node",
    "teleop_system.modules.arm_teleop.arm_teleop_node",
    "ArmTeleopNode",
    Stage.MODULES,
    "controller of arms and torso",
)
HAND = NodeKind(
    "hand_teleop_node",
    "teleop_system.modules.hand_teleop.hand_teleop_node",
    "HandTeleopNode",
    Stage.MODULES,
    "controller of the hands",
)
LOCOMOTION = NodeKind(
    "locomotion_node",
    "teleop_system.modules.locomotion.locomotion_node",
    "LocomotionNode",
    Stage.MODULES,
    "controller of the base",
)
CAMERA = NodeKind(
    "camera_node",
    "teleop_system.modules.camera.camera_node",
    "CameraNode",
    Stage.MODULES,
    "controller of the head",
)
STREAM = NodeKind(
    "rgbd_stream_node",
    "teleop_system.modules.camera.rgbd_stream_node",
    "RGBDStreamNode",
    Stage.MODULES,
    "camera stream for other machines and browsers",
)
DUMMY_TRACKER = NodeKind(
    "dummy_tracker_pub",
    "teleop_system.simulators.dummy_tracker_pub",
    "DummyTrackerPublisher",
    Stage.OPERATOR,
    "hands, waist and feet of a simulated operator",
)
DUMMY_GLOVE = NodeKind(
    "dummy_glove_pub",
    "teleop_system.simulators.dummy_glove_pub",
    "DummyGlovePublisher",
    Stage.OPERATOR,
    "fingers of a simulated operator",
)
DUMMY_HMD = NodeKind(
    "dummy_hmd_pub",
    "teleop_system.simulators.dummy_hmd_pub",
    "DummyHmdPublisher",
    Stage.OPERATOR,
    "head of a simulated operator",
)
BVH_REPLAY = NodeKind(
    "bvh_replay_publisher",
    "teleop_system.mocap.bvh_replay_publisher",
    "BVHReplayPublisher",
    Stage.OPERATOR,
    "a recorded operator",
)

NODES = {
    kind.executable: kind
    for kind in (
        MUJOCO_BRIDGE,
        ARM,
        HAND,
        LOCOMOTION,
        CAMERA,
        STREAM,
        DUMMY_TRACKER,
        DUMMY_GLOVE,
        DUMMY_HMD,
        BVH_REPLAY,
    )
}
"""Every node that a stack can contain, by executable."""

_STREAM = Member(STREAM, (Condition("stream", (True,)),))
_SLAVE = (Member(MUJOCO_BRIDGE), _STREAM)
_OPTIONAL_SLAVE = (
    Member(MUJOCO_BRIDGE, (Condition("robot_node", (opt.SIMULATED,)),)),
    _STREAM,
)
_MODULES = tuple(
    Member(kind, (Condition("modules", (module,)),))
    for module, kind in zip(opt.MODULES, (ARM, HAND, LOCOMOTION, CAMERA), strict=True)
)
# A device is simulated only if a controller uses it.
_TRACKERS = Member(DUMMY_TRACKER, (Condition("modules", ("arm", "locomotion")),))
_GLOVES = Member(DUMMY_GLOVE, (Condition("modules", ("hand",)),))
_HMD = Member(DUMMY_HMD, (Condition("modules", ("camera",)),))
_OPERATOR = (_TRACKERS, _GLOVES, _HMD)


def _if(option: str, value: str, *members: Member) -> tuple[Member, ...]:
    condition = Condition(option, (value,))
    return tuple(Member(member.kind, (*member.conditions, condition)) for member in members)


def _if_simulated(*members: Member) -> tuple[Member, ...]:
    return _if("devices", opt.SIMULATED, *members)


_ANY_OPERATOR = (
    *_if("operator", opt.SIMULATED, *_OPERATOR),
    *_if("operator", opt.MOCAP, Member(BVH_REPLAY)),
)


STACKS = {
    stack.name: stack
    for stack in (
        Stack(
            "slave_mujoco",
            "The robot in MuJoCo, for controllers on this machine or another.",
            _SLAVE,
            opt.stack_options(opt.ROBOT_SIDE),
        ),
        Stack(
            "master_sim",
            "A simulated operator and all controllers, for a robot on another machine.",
            (*_MODULES, *_OPERATOR),
            opt.stack_options(opt.MODULE_CHOICE, opt.OPERATOR),
        ),
        Stack(
            "master_mocap",
            "A recorded operator and the controllers, for a robot on another machine.",
            (*_MODULES, Member(BVH_REPLAY)),
            opt.stack_options(opt.MODULE_CHOICE, opt.REPLAY),
        ),
        Stack(
            "teleop_sim_full",
            "Everything simulated: robot, operator and all controllers.",
            (*_SLAVE, *_MODULES, *_ANY_OPERATOR),
            opt.stack_options(
                opt.ROBOT_SIDE,
                opt.MODULE_CHOICE,
                opt.OPERATOR_CHOICE,
                opt.OPERATOR,
                opt.PLAYBACK,
                auto_engage=True,
            ),
        ),
        Stack(
            "teleop_sim",
            "The upper body simulated: arms, torso and hands.",
            (*_SLAVE, *_MODULES, *_OPERATOR),
            opt.stack_options(
                opt.ROBOT_SIDE,
                opt.MODULE_CHOICE,
                opt.OPERATOR,
                auto_engage=True,
                modules=("arm", "hand"),
            ),
        ),
        Stack(
            "teleop_mujoco_bridge",
            "Everything simulated, with the robot's camera on its topics.",
            (*_SLAVE, *_MODULES, *_OPERATOR),
            opt.stack_options(
                opt.ROBOT_SIDE, opt.MODULE_CHOICE, opt.OPERATOR, auto_engage=True, camera=True
            ),
        ),
        Stack(
            "mocap_replay",
            "A recorded operator drives the simulated robot.",
            (*_SLAVE, *_MODULES, Member(BVH_REPLAY)),
            opt.stack_options(opt.ROBOT_SIDE, opt.MODULE_CHOICE, opt.REPLAY, auto_engage=True),
        ),
        Stack(
            "teleop_full",
            "The controllers, for external devices and an external robot.",
            (*_OPTIONAL_SLAVE, *_MODULES, *_if_simulated(*_OPERATOR)),
            opt.stack_options(
                opt.DEVICES,
                opt.ROBOT_NODE,
                opt.ROBOT_SIDE,
                opt.MODULE_CHOICE,
                opt.OPERATOR,
                devices=opt.EXTERNAL,
                robot_node=opt.EXTERNAL,
            ),
        ),
        Stack(
            "arm_only",
            "Arms and torso only; robot and devices are simulated unless external.",
            (*_OPTIONAL_SLAVE, Member(ARM), *_if_simulated(Member(DUMMY_TRACKER))),
            opt.stack_options(
                opt.DEVICES, opt.ROBOT_NODE, opt.ROBOT_SIDE, opt.OPERATOR, auto_engage=True
            ),
        ),
        Stack(
            "hand_only",
            "Robot hands only; robot and devices are simulated unless external.",
            (*_OPTIONAL_SLAVE, Member(HAND), *_if_simulated(Member(DUMMY_GLOVE))),
            opt.stack_options(
                opt.DEVICES, opt.ROBOT_NODE, opt.ROBOT_SIDE, opt.OPERATOR, auto_engage=True
            ),
        ),
    )
}


def find_stack(name: str) -> Stack:
    """Return a stack by its name.

    Raises:
        UnknownNameError: If the stack does not exist.
    """
    if name not in STACKS:
        raise UnknownNameError("stack", name, STACKS)
    return STACKS[name]
