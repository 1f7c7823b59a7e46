# SPDX-License-Identifier: Apache-2.0
"""Artefacts of a run: its folder, its events and the values of every tick."""

from teleop_system.session.artefacts.events import EventLog, Intervention
from teleop_system.session.artefacts.folder import RunFolder, environment

__all__ = ["EventLog", "Intervention", "RunFolder", "environment"]
