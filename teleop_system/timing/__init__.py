# SPDX-License-Identifier: Apache-2.0
"""When things run: clocks, the fixed-rate scheduler, overruns and the pace of simulated time.

Control loops run on a `Scheduler`, which measures how late each cycle starts and reports an
overrun as a cause. Nothing in this room knows what a cycle does.
"""
