# SPDX-License-Identifier: Apache-2.0
"""How the velocity of a base approaches its command: the arithmetic of all its axes.

Driving and rotating share the acceleration of the wheels. An axis that speeds up gets what the
axes that continue, and those that brake, leave over.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Records = NDArray[np.void]

LANDING = 0.65
"""Largest share of the wheels' acceleration with which braking ends."""
LANDED = 1e-12
"""Difference of velocities in [m/s] or [rad/s] that is only rounding."""
TOLERANCE = 1e-9
"""Relative excess of a requested speed that is only rounding."""

AXIS = np.dtype(
    [
        ("speed", np.float64),
        ("acceleration", np.float64),
        ("jerk", np.float64),
        ("braking", np.float64),
        ("braking_jerk", np.float64),
        ("landing_jerk", np.float64),
        ("velocity", np.float64),
        ("rate", np.float64),
    ]
)
"""One direction of motion: its largest speed (0 where the base cannot move so), largest
acceleration and jerk while speeding up, largest deceleration and jerk while braking, the jerk with
which braking ends, and its present velocity and acceleration."""
PLAN = np.dtype(
    [("rate", np.float64), ("slowing", np.bool_), ("lands", np.bool_)],
    align=True,
)
"""What an axis does in a step: its acceleration, whether that slows it down, and whether it then
has the commanded velocity."""


class AxisPlan(NamedTuple):
    """The fields of a `PLAN`."""

    rate: float
    slowing: bool
    lands: bool


@kernel("(f8, f8, f8, f8, f8, f8, f8, f8, f8)")
def plan_axis(
    velocity: float,
    rate: float,
    target: float,
    max_acceleration: float,
    jerk: float,
    braking: float,
    braking_jerk: float,
    landing_jerk: float,
    step: float,
) -> AxisPlan:
    """Return what one axis should do in the next step, if it had the wheels for itself."""
    if velocity * target < 0.0:
        target = 0.0  # A reversal begins with a stop.
    gap = target - velocity
    slowing = abs(target) < abs(velocity)
    limit, fading = (braking, landing_jerk) if slowing else (max_acceleration, jerk)
    # The largest acceleration that closes the gap without overshoot follows from
    # a step + a (a / (j step) - 1) step / 2 = gap, where a falls by j step in every cycle.
    faded = fading * (math.sqrt(0.25 * step * step + 2.0 * abs(gap) / fading) - 0.5 * step)
    wanted = math.copysign(min(limit, faded, abs(gap) / step), gap)
    if rate * gap < 0.0 or (velocity == 0.0 and rate != 0.0):
        wanted = 0.0  # Opposite, or left over from braking: it has to fade first.
    # Fading is never dangerous, so it may be as quick as braking.
    largest = jerk if abs(wanted) > abs(rate) and not slowing else braking_jerk
    rate += max(-largest * step, min(largest * step, wanted - rate))
    return AxisPlan(rate, slowing, slowing and abs(gap - rate * step) < LANDED)


@kernel("f8(f8, f8, f8, f8, f8, f8)")
def limited_rate(
    wanted: float,
    share: float,
    rate: float,
    max_acceleration: float,
    braking_jerk: float,
    step: float,
) -> float:
    """Return an acceleration that uses no more than a share of the wheels' acceleration.

    A `rate` that is now larger is lowered no faster than the jerk allows.
    """
    size = min(abs(wanted), share * max_acceleration)
    return math.copysign(max(size, abs(rate) - braking_jerk * step), wanted)


@kernel("void(AXIS[::1], PLAN[::1], f8)")
def share_wheels(axes: Records, plans: Records, step: float) -> None:
    """Lower accelerations to what the wheels can provide.

    Braking may exceed the shared limit; the acceleration at its end may not. An axis that brakes
    therefore has its share reserved, and its final acceleration is limited by what the others use.
    """
    slowing, kept, used = 0, 0.0, 0.0
    for n in range(axes.size):
        if plans[n]["slowing"]:
            slowing += 1
        else:
            now, planned = abs(axes[n]["rate"]), abs(plans[n]["rate"])
            kept += min(now, planned) / axes[n]["acceleration"]
            used += planned / axes[n]["acceleration"]
    room, grown = max(0.0, 1.0 - LANDING * slowing), used - kept
    keep, growth = 1.0, 1.0
    if used > room:
        growth = max(0.0, room - kept) / grown if grown > 0.0 else 0.0
        keep = min(1.0, room / kept) if kept > 0.0 else 1.0
    left = 1.0
    for n in range(axes.size):
        axis, rate = axes[n], plans[n]["rate"]
        if plans[n]["slowing"]:
            continue
        if used > room:
            own = min(abs(axis["rate"]), abs(rate)) / axis["acceleration"]
            share = keep * own + growth * (abs(rate) / axis["acceleration"] - own)
            rate = limited_rate(
                rate, share, axis["rate"], axis["acceleration"], axis["braking_jerk"], step
            )
            plans[n]["rate"] = rate
        left -= abs(rate) / axis["acceleration"]
    for n in range(axes.size):
        if plans[n]["lands"]:
            axis, share = axes[n], max(0.0, left) / slowing
            plans[n]["rate"] = limited_rate(
                plans[n]["rate"],
                share,
                axis["rate"],
                axis["acceleration"],
                axis["braking_jerk"],
                step,
            )


@kernel("b1(AXIS[::1], PLAN[::1], f8[::1], f8, f8)")
def step_base(axes: Records, plans: Records, requested: Array, scale: float, step: float) -> bool:
    """Advance the velocities of a base by one step towards the requested ones.

    Returns whether a request exceeds its limit.

    Args:
        axes: The axes; their velocities and accelerations are updated.
        plans: Written: what each axis does.
        requested: Requested velocities [m/s] or [rad/s], one per axis.
        scale: Share of the largest speeds that is allowed, between 0 and 1.
        step: Duration of the step in [s].
    """
    is_limited = False
    for n in range(axes.size):
        axis = axes[n]
        limit = axis["speed"] * scale
        is_limited = is_limited or abs(requested[n]) > limit * (1.0 + TOLERANCE)
        plan = plan_axis(
            axis["velocity"],
            axis["rate"],
            max(-limit, min(limit, requested[n])),
            axis["acceleration"],
            axis["jerk"],
            axis["braking"],
            axis["braking_jerk"],
            axis["landing_jerk"],
            step,
        )
        plans[n]["rate"] = plan.rate
        plans[n]["slowing"] = plan.slowing
        plans[n]["lands"] = plan.lands
    share_wheels(axes, plans, step)
    for n in range(axes.size):
        rate = plans[n]["rate"]
        velocity = axes[n]["velocity"] + rate * step
        axes[n]["rate"] = rate
        # Rounding must not leave a base creeping.
        axes[n]["velocity"] = 0.0 if abs(velocity) < LANDED else velocity
    return is_limited
