# SPDX-License-Identifier: Apache-2.0
"""Short trials of one part each: what is shown, what came out, and a verdict."""

from teleop_system.tools.trials.demo_steps import STEPS, run_step
from teleop_system.tools.trials.module_trials import TRIALS, run_trial
from teleop_system.tools.trials.trial import Trial, Verdict

__all__ = ["STEPS", "TRIALS", "Trial", "Verdict", "run_step", "run_trial"]
