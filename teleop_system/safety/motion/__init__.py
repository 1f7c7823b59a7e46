# SPDX-License-Identifier: Apache-2.0
"""How joints move: towards what is wished, within their limits, and to rest."""
