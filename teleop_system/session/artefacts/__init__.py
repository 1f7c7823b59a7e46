# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: its folder, the events, and the numbers of every tick."""

from teleop_system.session.artefacts.events import EventLog, Intervention
from teleop_system.session.artefacts.folder import RunFolder, environment
from teleop_system.session.artefacts.table import Table

__all__ = ["EventLog", "Intervention", "RunFolder", "Table", "environment"]
