# SPDX-License-Identifier: Apache-2.0
"""A person, simulated: how the body moves about, and how the hands open and close.

Every motion is a pure function of a seed and a time. It starts at rest, its acceleration has no
steps, and any moment can be asked for in any order with the same answer to the last bit.
"""
