# SPDX-License-Identifier: Apache-2.0
"""From the samples of a tracker to the target of an end effector.

`Limb` takes a sample through gate, `PoseFilter`, `LimbMapping`, `ReachLimit` and `CatchUp`.
"""
