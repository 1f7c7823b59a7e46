# SPDX-License-Identifier: Apache-2.0
"""Real devices: trackers, gloves, keys and cameras.

Each device is one module that implements an abstract base of `interfaces`. This is the only room
that imports vendor SDKs; a missing SDK is reported by `initialize()`, not at import. `config` says
which device measures which signal, `signal_catalogue` which signals exist.
"""
