# SPDX-License-Identifier: Apache-2.0
"""Small models like those that a user might put into a models folder."""

from pathlib import Path

SIX_AXIS = """
<mujoco model="six_axis">
  <compiler angle="radian"/>
  <option timestep="0.002" integrator="implicitfast"/>
  <default>
    <joint armature="0.1" damping="1"/>
    <geom type="capsule" size="0.03" density="800"/>
    <position kp="2000" kv="100" forcerange="-150 150"/>
  </default>
  <worldbody>
    <body name="shoulder" pos="0 0 0.1" gravcomp="1">
      <joint name="pan" axis="0 0 1" range="-3 3"/>
      <geom fromto="0 0 0 0 0 0.1"/>
      <body name="upper" pos="0 0 0.15" gravcomp="1">
        <joint name="lift" axis="0 1 0" range="-2 2"/>
        <geom fromto="0 0 0.05 0 0 0.25"/>
        <body name="fore" pos="0 0 0.3" gravcomp="1">
          <joint name="elbow" axis="0 1 0" range="-2.5 2.5"/>
          <geom fromto="0.05 0 0 0.2 0 0"/>
          <body name="wrist_a" pos="0.25 0 0" gravcomp="1">
            <joint name="wrist_1" axis="1 0 0" range="-3 3"/>
            <geom fromto="0.04 0 0 0.06 0 0"/>
            <body name="wrist_b" pos="0.1 0 0" gravcomp="1">
              <joint name="wrist_2" axis="0 1 0" range="-2 2"/>
              <geom fromto="0.04 0 0 0.06 0 0"/>
              <body name="flange" pos="0.1 0 0" gravcomp="1">
                <joint name="wrist_3" axis="1 0 0" range="-3 3"/>
                <geom fromto="0.03 0 0 0.05 0 0"/>
                <site name="attachment_site" pos="0.08 0 0"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="m1" joint="pan"/>
    <position name="m2" joint="lift"/>
    <position name="m3" joint="elbow"/>
    <position name="m4" joint="wrist_1"/>
    <position name="m5" joint="wrist_2"/>
    <position name="m6" joint="wrist_3"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0.2 -0.4 0.6 0.1 0.5 0" ctrl="0.2 -0.4 0.6 0.1 0.5 0"/>
  </keyframe>
</mujoco>
"""
SIX_AXIS_JOINTS = ("pan", "lift", "elbow", "wrist_1", "wrist_2", "wrist_3")

MOBILE_DUAL = """
<mujoco model="mobile_dual">
  <compiler angle="radian"/>
  <default><geom type="capsule" size="0.03"/></default>
  <worldbody>
    <body name="chassis" pos="0 0 0.1">
      <freejoint/>
      <geom type="box" size="0.2 0.2 0.05"/>
      <body name="wheel_left" pos="0.1 0.25 0">
        <joint name="drive_l" axis="0 1 0"/><geom type="cylinder" size="0.1 0.02" zaxis="0 1 0"/>
      </body>
      <body name="wheel_right" pos="0.1 -0.25 0">
        <joint name="drive_r" axis="0 1 0"/><geom type="cylinder" size="0.1 0.02" zaxis="0 1 0"/>
      </body>
      <body name="column" pos="0 0 0.1">
        <joint name="rise" type="slide" axis="0 0 1" range="0 0.4"/>
        <joint name="turn" axis="0 0 1" range="-1 1"/>
        <geom fromto="0 0 0 0 0 0.5"/>
        <body name="port_upper" pos="0 0.2 0.5">
          <joint name="p1" axis="0 1 0" range="-2 2"/><geom fromto="0 0 0 0.3 0 0"/>
          <body name="port_fore" pos="0.3 0 0">
            <joint name="p2" axis="0 1 0" range="-2 2"/><geom fromto="0 0 0 0.3 0 0"/>
            <body name="port_tcp" pos="0.35 0 0"/>
            <body name="port_pad_1" pos="0.3 0.02 0">
              <joint name="p_a" type="slide" axis="0 1 0" range="0 0.04"/><geom size="0.01 0.02"/>
            </body>
            <body name="port_pad_2" pos="0.3 -0.02 0">
              <joint name="p_b" type="slide" axis="0 -1 0" range="0 0.04"/><geom size="0.01 0.02"/>
            </body>
          </body>
        </body>
        <body name="star_upper" pos="0 -0.2 0.5">
          <joint name="s1" axis="0 1 0" range="-2 2"/><geom fromto="0 0 0 0.3 0 0"/>
          <body name="star_fore" pos="0.3 0 0">
            <joint name="s2" axis="0 1 0" range="-2 2"/><geom fromto="0 0 0 0.3 0 0"/>
          </body>
        </body>
        <body name="mast" pos="0 0 0.6">
          <joint name="look_around" axis="0 0 1" range="-1 1"/><geom size="0.02 0.03"/>
          <body name="eye" pos="0 0 0.05">
            <joint name="look_down" axis="0 1 0" range="-1 1"/><geom size="0.02 0.03"/>
            <camera name="eye_camera"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <velocity joint="drive_l" kv="5" ctrlrange="-4 4"/>
    <velocity joint="drive_r" kv="5" ctrlrange="-4 4"/>
    <position joint="rise" kp="900"/><position joint="turn" kp="100"/>
    <position joint="p1" kp="90"/><position joint="p2" kp="90"/>
    <position joint="p_a" kp="90"/><position joint="p_b" kp="90"/>
    <position joint="s1" kp="90"/><position joint="s2" kp="90"/>
    <position joint="look_around" kp="9"/><position joint="look_down" kp="9"/>
  </actuator>
</mujoco>
"""

PENDULUM = """
<mujoco model="pendulum">
  <compiler angle="radian"/>
  <worldbody>
    <body name="{body}" pos="0 0 1">
      <joint name="{joint}" axis="0 1 0" range="-1 1"/>
      <inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.1"/>
      <geom type="sphere" size="0.05" pos="0 0 -0.5"/>
    </body>
  </worldbody>
  <actuator><position joint="{joint}" kp="500" kv="20"/></actuator>
</mujoco>
"""

PENDULUM_URDF = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="{mass}"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="{joint}" type="revolute">
    <parent link="base"/><child link="rod"/>
    <origin xyz="0 0 {height}"/><axis xyz="{axis}"/>
    <limit lower="-1" upper="{upper}" velocity="3" effort="20"/>
  </joint>
</robot>
"""


def pendulum(joint: str = "swing", body: str = "rod") -> str:
    """Return the MJCF of a pendulum."""
    return PENDULUM.format(joint=joint, body=body)


def pendulum_urdf(
    joint: str = "swing",
    axis: str = "0 1 0",
    upper: float = 1.0,
    mass: float = 2.0,
    height: float = 1.0,
) -> str:
    """Return the URDF of the same pendulum, or of one with one difference."""
    return PENDULUM_URDF.format(joint=joint, axis=axis, upper=upper, mass=mass, height=height)


def write_robot(folder: Path, **files: str) -> Path:
    """Write the files of a robot, `name_suffix="text"`, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for key, text in files.items():
        stem, _, suffix = key.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return folder
