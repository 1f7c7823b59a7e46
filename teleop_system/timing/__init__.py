# SPDX-License-Identifier: Apache-2.0
"""When code runs: clocks, the fixed-rate scheduler, tick triggers and overruns.

Sessions run on a `Scheduler`, which measures how late each cycle starts and reports an overrun as
a cause. Nodes tick when a `TickTrigger` has a complete set of samples. `Pacer` keeps simulated
time at the pace of real time, and `StageTimer` measures what the stages of a cycle cost.
"""
