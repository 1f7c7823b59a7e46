# SPDX-License-Identifier: Apache-2.0
"""What every wiring shares: schedule, safety, engagement, causes, and the standalone session."""
