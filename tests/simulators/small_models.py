# SPDX-License-Identifier: Apache-2.0
"""Models so small that every result can be computed by hand."""

ARM = """
<mujoco model="arm">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-1.5 1.5" actuatorfrcrange="-20 20"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0" range="-2 2" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder_motor" joint="shoulder" kp="400" kv="20" ctrlrange="-1 1"
              forcerange="-30 30"/>
    <motor name="elbow_motor" joint="elbow" gear="5" ctrlrange="-2 2"/>
  </actuator>
  <keyframe>
    <key name="ready" qpos="0.2 -0.4"/>
    <key name="bent" qpos="0.1 1.0"/>
  </keyframe>
</mujoco>
"""
"""A shoulder with a servo of 20 N m, and an elbow with a bare motor of 10 N m."""

CART = """
<mujoco model="cart">
  <compiler angle="radian" autolimits="true"/>
  <option integrator="implicitfast"/>
  <worldbody>
    <body name="chassis" pos="0 0 0.1">
      <freejoint/>
      <geom type="box" size="0.2 0.15 0.05" mass="10"/>
      <geom type="sphere" size="0.03" pos="-0.15 0 -0.07" mass="0.1" condim="1" priority="1"/>
      <body name="left" pos="0.1 0.2 0">
        <joint name="wheel_a" axis="0 1 0"/>
        <geom type="cylinder" size="0.1 0.02" zaxis="0 1 0" mass="1"/>
      </body>
      <body name="right" pos="0.1 -0.2 0">
        <joint name="wheel_b" axis="0 1 0"/>
        <geom type="cylinder" size="0.1 0.02" zaxis="0 1 0" mass="1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <velocity name="a" joint="wheel_a" kv="20" ctrlrange="-10 10"/>
    <velocity name="b" joint="wheel_b" kv="20" ctrlrange="-10 10"/>
  </actuator>
</mujoco>
"""
"""Two wheels of 0.1 m, 0.4 m apart; a positive speed is forward. There is no floor."""

STILL_LIFE = """
<mujoco model="still_life">
  <statistic extent="1"/>
  <visual><map znear="0.05" zfar="20"/><headlight ambient="1 1 1"/></visual>
  <asset>
    <texture type="skybox" builtin="flat" rgb1="0 0 1" rgb2="0 0 1" width="8" height="48"/>
  </asset>
  <worldbody>
    <camera name="eye" pos="0 0 1" xyaxes="0 -1 0 0 0 1" fovy="60"/>
    <geom name="wall" type="box" size="0.1 0.4 0.3" pos="2.1 0 1" rgba="1 0 0 1"/>
    <geom name="ball" type="sphere" size="0.05" pos="1 0.3 1.2" rgba="0 1 0 1"/>
    <body name="pointer" pos="0 0 5">
      <joint name="turn" axis="0 0 1" damping="0.1"/>
      <geom size="0.1"/>
    </body>
  </worldbody>
  <actuator><position name="turn" joint="turn" kp="1"/></actuator>
</mujoco>
"""
"""A camera at 1 m height that looks along x, at a red wall 2 m away and a green ball nearer."""

SCALE = """
<mujoco model="scale">
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <body name="flange" pos="0 0 1">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <geom size="0.05" mass="1"/>
      <site name="here" euler="90 0 0"/>
      <body name="tool" pos="0 0 -0.1">
        <geom size="0.03" mass="2" pos="0.1 0 0"/>
        <site name="joint"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="lift" joint="lift" kp="100000" kv="2000"/></actuator>
  <sensor>
    <force name="wrist_ft_force" site="joint"/>
    <torque name="wrist_ft_torque" site="joint"/>
    <framequat name="body_imu_quat" objtype="site" objname="here"/>
    <gyro name="body_imu_gyro" site="here"/>
    <accelerometer name="body_imu_accel" site="here"/>
    <force name="lonely_ft_force" site="joint"/>
  </sensor>
</mujoco>
"""
"""A tool of 2 kg under a force sensor, 0.1 m beside it, and an inertial unit on its side."""

UNSTABLE = """
<mujoco model="unstable">
  <option timestep="0.1" integrator="Euler"/>
  <worldbody>
    <body name="pole"><joint name="spin" axis="0 1 0"/><geom size="0.1" mass="0.001"/></body>
  </worldbody>
  <actuator><position name="spin" joint="spin" kp="1e12"/></actuator>
</mujoco>
"""
"""A servo far too stiff for its time step."""
