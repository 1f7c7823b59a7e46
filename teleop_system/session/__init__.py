# SPDX-License-Identifier: Apache-2.0
"""The standalone session: the same wiring as the ROS nodes, in one process and without ROS.

`build_session` connects devices, controllers and one robot side; `SessionRunner` calls
`TeleopSession.step` once per period. The sub-packages hold the operator's signals, the artefacts
of a run and its report.
"""
