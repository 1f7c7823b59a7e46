# SPDX-License-Identifier: Apache-2.0
"""Signals of the operator: which controller needs them and which device measures them.

A signal without a device may be derived from others.

plan = plan_signals(needs, measured={"head": "headset"})
plan.require()  # One error that names everything missing.
"""

from teleop_system.devices.config import DriverSettings, HardwareSettings
from teleop_system.devices.signal_catalogue import DERIVATIONS, SIGNALS, OperatorSample
from teleop_system.session.signals.hub import ISignalSource, Samples, SignalHub
from teleop_system.session.signals.plan import Need, SignalPlan, SignalRow, plan_signals

__all__ = [
    "DERIVATIONS",
    "SIGNALS",
    "DriverSettings",
    "HardwareSettings",
    "ISignalSource",
    "Need",
    "OperatorSample",
    "Samples",
    "SignalHub",
    "SignalPlan",
    "SignalRow",
    "plan_signals",
]
