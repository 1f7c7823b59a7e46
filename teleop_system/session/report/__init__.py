# SPDX-License-Identifier: Apache-2.0
"""The report of a run: figures, plots and causes on one page that needs no network."""

from teleop_system.session.report.page import ReportData, render_report, write_report

__all__ = ["ReportData", "render_report", "write_report"]
