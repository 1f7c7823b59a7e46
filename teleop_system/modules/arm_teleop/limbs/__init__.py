# SPDX-License-Identifier: Apache-2.0
"""From the samples of trackers to the targets of the limbs that follow them."""
