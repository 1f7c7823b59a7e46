# SPDX-License-Identifier: Apache-2.0
"""Short trials of single modules, with a verdict."""

from teleop_system.tools.trials.demo_steps import STEPS, run_step
from teleop_system.tools.trials.module_trials import TRIALS, run_trial
from teleop_system.tools.trials.trial import Criterion, Trial

__all__ = ["STEPS", "TRIALS", "Criterion", "Trial", "run_step", "run_trial"]
