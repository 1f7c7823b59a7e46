# SPDX-License-Identifier: Apache-2.0
"""The `teleop` command: one module per sub-command.

A sub-command parses its arguments, calls a function of `tools` or `stacks`, and prints the result;
it has no logic of its own. Each imports what it needs when it runs, so `teleop --help` answers at
once.
"""
