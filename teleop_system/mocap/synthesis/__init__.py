# SPDX-License-Identifier: Apache-2.0
"""Generates the built-in motions: a person who walks, reaches, carries, waves, turns and counts.

`scripts/make_motions.py` writes them to `models/motions`. They are computed, not captured, so the
project can ship small files for two skeletons.
"""
