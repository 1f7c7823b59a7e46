# SPDX-License-Identifier: Apache-2.0
"""What keeps a robot clear of itself and its hands inside their space."""
