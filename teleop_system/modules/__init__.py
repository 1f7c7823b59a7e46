# SPDX-License-Identifier: Apache-2.0
"""Controllers that turn the operator's motion into commands, and the nodes that run them."""
