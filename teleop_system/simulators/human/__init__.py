# SPDX-License-Identifier: Apache-2.0
"""A simulated person: motion of the body and of the fingers.

Every motion is a pure function of a seed and a time. It starts at rest, and its acceleration is
continuous.
"""
