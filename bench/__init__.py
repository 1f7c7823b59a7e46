# SPDX-License-Identifier: Apache-2.0
"""Measurements of the performance budgets against their peers, in the same run: `make bench`.

Each `bench_<name>.py` has a function `rows()` that returns one dictionary per row of its table;
a row with a budget shows under "ok" whether it is met.
"""
