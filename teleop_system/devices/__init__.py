# SPDX-License-Identifier: Apache-2.0
"""Real devices: trackers, gloves, keys and cameras. The only room that imports vendor SDKs."""
