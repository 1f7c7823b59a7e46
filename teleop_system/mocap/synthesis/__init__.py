# SPDX-License-Identifier: Apache-2.0
"""Makes our own sample motions: a person who walks, reaches, carries, waves, turns and counts.

`scripts/make_motions.py` writes them to `models/motions`. They are computed, not captured, so that
the project ships motions of its own in two skeletons, small enough to be read.
"""
