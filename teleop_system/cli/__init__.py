# SPDX-License-Identifier: Apache-2.0
"""The `teleop` command: one module per sub-command; each imports only what it needs."""
