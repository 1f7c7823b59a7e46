# SPDX-License-Identifier: Apache-2.0
"""The functions behind the `teleop` command and the scripts.

Check and view a robot, run a session with its window and artefacts, replay and score recorded
motion, stream the camera, try single modules. Tools use sessions and simulators; they never drive
an actuator themselves.
"""
