# SPDX-License-Identifier: Apache-2.0
"""RGB-D streaming over TCP: codec, wire protocol, server, client and viewer page."""
