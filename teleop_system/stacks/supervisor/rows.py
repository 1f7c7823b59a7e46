# SPDX-License-Identifier: Apache-2.0
"""What the launcher shows of every node, put together from what is known about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from teleop_system.stacks.supervisor.node_watch import NodeWatch, Phase

MOST_CAUSES, LONGEST_CAUSE = 3, 100
LATENCIES = ("latency_p50_ms", "latency_p99_ms")
"""Keys of a report with the time from the operator's sample to the command, typical and bad."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One line of the table.

    Attributes:
        name: The node.
        state: Its lifecycle state, or how far its start has come.
        rate: As it reports it in [Hz]; "" where it does not.
        cpu: Share of one core; None for a node that shares its process with others.
        latency: As it reports it in [ms]; "" where it does not.
        restarts: How often it was brought up again.
        cause: Why it is not as it should be; "" where all is well.
        is_well: Whether it does what it should.
    """

    name: str
    state: str
    rate: str = ""
    cpu: float | None = None
    latency: str = ""
    restarts: int = 0
    cause: str = ""
    is_well: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """What a node last said about itself, without the words of ROS 2."""

    message: str
    values: Mapping[str, str]
    is_well: bool

    @property
    def causes(self) -> list[str]:
        """Return why the robot, or a part of it, does not do what was asked."""
        return [value for key, value in self.values.items() if key.startswith("cause.")]


def make_row(name: str, watch: NodeWatch, report: Report | None, cpu: float | None) -> NodeRow:
    """Return the line of a node; `report` is None where it has said nothing lately."""
    state = watch.state if watch.is_up else watch.phase.value
    values = report.values if report is not None else {}
    cause = watch.cause if not watch.is_up else ""
    if report is not None and not cause:
        cause = "; ".join(report.causes[:2]) or ("" if report.is_well else report.message)
    return NodeRow(
        name=name,
        state=f"{state} ({values['state']})" if "state" in values else state,
        rate=values.get("rate", ""),
        cpu=cpu,
        latency=" / ".join(values[key] for key in LATENCIES if values.get(key)),
        restarts=watch.restarts,
        cause=cause,
        is_well=watch.is_up and watch.state == "active" and (report is None or report.is_well),
    )


def summary(rows: list[NodeRow], phases: list[Phase], cpu: float) -> str:
    """Return all rows in one line, for those who have no screen."""
    up = sum(phase is Phase.UP for phase in phases)
    unwell = [f"{row.name}: {row.cause or row.state}" for row in rows if not row.is_well]
    shown = [text[:LONGEST_CAUSE] for text in unwell[:MOST_CAUSES]]
    if len(unwell) > MOST_CAUSES:
        shown.append(f"and {len(unwell) - MOST_CAUSES} more")
    parts = [f"{up} of {len(rows)} nodes up", f"cpu {100.0 * cpu:.0f} %"]
    parts += [f"{row.name} {row.state}" for row in rows if "(" in row.state]
    return ", ".join(parts) + (f"; {'; '.join(shown)}" if shown else "")
