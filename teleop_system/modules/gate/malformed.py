# SPDX-License-Identifier: Apache-2.0
"""The cause of a sample that is not even a value: wrong shape, or not finite."""

from teleop_system.exceptions import InvalidValueError, TeleopError
from teleop_system.interfaces.causes import Rule


def malformed_rule(error: TeleopError) -> Rule:
    """Return the rule that a refused value breaks."""
    if isinstance(error, InvalidValueError) and error.not_finite:
        return Rule.NON_FINITE
    return Rule.WRONG_SHAPE
