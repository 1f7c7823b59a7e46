# SPDX-License-Identifier: Apache-2.0
"""Which module needs which signal, its source, and the error for a missing one."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from teleop_system.devices.signal_catalogue import DERIVATIONS, SIGNALS
from teleop_system.exceptions import ConfigError, MissingSignalError, UnknownNameError
from teleop_system.interfaces import HandJointState, IMasterTracker, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules import MODULES
from teleop_system.robots import load_robot
from teleop_system.session.signals import (
    DriverSettings,
    HardwareSettings,
    Need,
    SignalHub,
    plan_signals,
)
from teleop_system.session.signals.needs import signal_needs
from teleop_system.session.signals.recording import (
    InputRecorder,
    InputRecording,
    RecordedSource,
)

RBY1 = load_robot("rby1")
TRACKERS = DriverSettings("tracker", "simulated", {"seed": 3})
GLOVES = DriverSettings("hand_input", "simulated")


def hub_of(hardware: HardwareSettings, *needs: Need, time: float = 0.0) -> SignalHub:
    return SignalHub(plan_signals(needs, hardware.measured), hardware, lambda: time)


def test_a_signal_with_a_driver_is_measured() -> None:
    plan = plan_signals([Need("camera", "head")], {"head": "headset"})
    assert (plan.rows[0].source, plan.rows[0].provider) == ("measured", "headset")
    assert plan.measured == {"head": "headset"}


def test_a_signal_without_a_driver_is_derived_from_those_that_have_one() -> None:
    plan = plan_signals([Need("arm", "waist")], {"head": "headset"})
    assert plan.rows[0].source == "derived"
    assert plan.measured == {"head": "headset"}
    assert [derivation.signal for derivation in plan.derived] == ["waist"]


def test_a_measured_signal_is_not_derived_as_well() -> None:
    plan = plan_signals([Need("arm", "waist")], {"head": "headset", "waist": "belt"})
    assert plan.rows[0].provider == "belt"
    assert not plan.derived


def test_all_missing_signals_are_reported_at_once_with_their_remedies() -> None:
    plan = plan_signals([Need("arm", "right_hand"), Need("camera", "head")], {})
    with pytest.raises(MissingSignalError) as caught:
        plan.require()
    message = str(caught.value)
    assert "arm needs 'right_hand'" in message
    assert "camera needs 'head'" in message
    assert "hardware.signals.head" in message


def test_an_optional_signal_may_be_missing() -> None:
    plan = plan_signals([Need("locomotion", "waist", required=False)], {})
    assert plan.rows[0].source == "missing"
    plan.require()


def test_an_unknown_signal_is_reported_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'right_hand'"):
        plan_signals([Need("arm", "rigth_hand")], {})


def test_no_derivation_depends_on_itself_or_on_an_unknown_signal() -> None:
    for derivation in DERIVATIONS.values():
        assert derivation.signal not in derivation.requires
        assert {derivation.signal, *derivation.requires} <= SIGNALS.keys()


def test_each_module_needs_the_signals_that_move_its_parts() -> None:
    needed = {
        module: {need.signal for need in signal_needs(RBY1, [module]) if need.required}
        for module in MODULES
    }
    assert needed == {
        "arm": {"right_hand", "left_hand"},
        "hand": {"right_fingers", "left_fingers"},
        "locomotion": {"left_foot", "right_foot"},
        "camera": {"head"},
    }


def test_fingertip_retargeting_needs_tips_rather_than_angles() -> None:
    needs = signal_needs(RBY1, ["hand"], finger_tips=True)
    assert {need.signal for need in needs} == {"right_tips", "left_tips"}


def test_a_robot_without_wheels_and_neck_needs_no_feet_and_no_head() -> None:
    assert not signal_needs(load_robot("dg5f_right"), ["locomotion", "camera"])


def test_the_waist_is_below_the_head_and_has_its_heading() -> None:
    hardware = HardwareSettings(drivers={"t": TRACKERS}, signals={"head": "t"})
    hub = hub_of(hardware, Need("arm", "waist"), time=5.0)
    hub.connect()
    samples = hub.read(5.0)
    head, waist = samples["head"], samples["waist"]
    assert isinstance(head, Pose6D)
    assert isinstance(waist, Pose6D)
    np.testing.assert_allclose(head.position - waist.position, [0.0, 0.0, 0.7])
    np.testing.assert_allclose(waist.orientation[:2], 0.0)
    assert waist.timestamp == head.timestamp


def test_tips_are_derived_from_angles_where_the_glove_measures_none() -> None:
    gloves = DriverSettings("hand_input", "simulated", {"with_tips": False})
    hardware = HardwareSettings(drivers={"g": gloves}, signals={"left_fingers": "g"})
    hub = hub_of(hardware, Need("hand", "left_tips"))
    hub.connect()
    tips = hub.read(0.0)["left_tips"]
    assert isinstance(tips, HandJointState)
    assert tips.finger_tip_positions is not None


def test_drivers_use_the_clock_of_the_session() -> None:
    hardware = HardwareSettings(drivers={"t": TRACKERS}, signals={"head": "t"})
    hub = hub_of(hardware, Need("camera", "head"), time=12.5)
    hub.connect()
    head = hub.read(12.5)["head"]
    assert hub.follows_clock
    assert head is not None
    assert head.timestamp == 12.5


def test_an_unknown_option_of_a_driver_is_reported_with_the_nearest_one() -> None:
    bad = DriverSettings("tracker", "simulated", {"sede": 1})
    with pytest.raises(ConfigError, match=r"no option named 'sede'; did you mean 'seed'"):
        hub_of(HardwareSettings(drivers={"t": bad}, signals={"head": "t"}), Need("c", "head"))


def test_an_unregistered_driver_is_reported_with_its_key() -> None:
    bad = DriverSettings("tracker", "vibe")
    with pytest.raises(UnknownNameError, match=r"hardware.drivers.t.*'vibe'"):
        hub_of(HardwareSettings(drivers={"t": bad}, signals={"head": "t"}), Need("c", "head"))


def test_a_glove_cannot_measure_a_pose() -> None:
    with pytest.raises(ConfigError, match=r"signals\.head needs a driver of kind"):
        HardwareSettings(drivers={"g": GLOVES}, signals={"head": "g"})


class BrokenTracker(IMasterTracker):
    """A tracker that does not start, or delivers values that are not finite."""

    def __init__(self, role: str, starts: bool = True) -> None:
        self._role, self._starts = TrackerRole(role), starts

    def initialize(self) -> bool:
        return self._starts

    def get_pose(self) -> Pose6D:
        return Pose6D(np.array([0.0, np.nan, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))

    def is_connected(self) -> bool:
        return False

    def get_role(self) -> TrackerRole:
        return self._role

    def shutdown(self) -> None:
        pass


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    from teleop_system import registry

    monkeypatch.setitem(registry._BUILT_IN["tracker"], "broken", f"{__name__}:BrokenTracker")


@pytest.mark.usefixtures("broken")
def test_a_sample_that_is_not_finite_is_dropped_and_reported() -> None:
    driver = DriverSettings("tracker", "broken")
    hub = hub_of(HardwareSettings(drivers={"t": driver}, signals={"head": "t"}), Need("c", "head"))
    hub.connect()
    assert hub.read(1.0)["head"] is None
    assert hub.read(1.1)["head"] is None
    (cause,) = hub.causes
    assert (cause.rule, cause.subject) == (Rule.NON_FINITE, "head")
    assert (cause.severity, cause.since) == (Severity.HOLD, 1.0)


@pytest.mark.usefixtures("broken")
def test_a_required_driver_that_does_not_start_is_an_error() -> None:
    driver = DriverSettings("tracker", "broken", {"starts": False})
    hub = hub_of(HardwareSettings(drivers={"t": driver}, signals={"head": "t"}), Need("c", "head"))
    with pytest.raises(MissingSignalError, match="driver 't' did not start"):
        hub.connect()


@pytest.mark.usefixtures("broken")
def test_a_driver_with_its_own_clock_requires_a_session_in_real_time() -> None:
    driver = DriverSettings("tracker", "broken")
    hub = hub_of(HardwareSettings(drivers={"t": driver}, signals={"head": "t"}), Need("c", "head"))
    assert not hub.follows_clock


def samples_at(time: float) -> Mapping[str, Pose6D | HandJointState | None]:
    pose = Pose6D(np.array([time, 2.0, 3.0]), np.array([0.0, 0.0, 0.6, 0.8]), time)
    tips = np.arange(15.0).reshape(5, 3) * 0.01
    return {
        "head": pose,
        "waist": Pose6D.lost(time),
        "left_fingers": HandJointState(np.full(20, 0.1 * time), None, time, "left"),
        "right_tips": HandJointState(np.full(20, 0.2), tips, time, "right"),
        "left_foot": None,
    }


def test_a_recording_reproduces_every_sample_to_the_last_bit(tmp_path: Path) -> None:
    recorder = InputRecorder(samples_at(0.0))
    for tick in range(5):
        recorder.record(0.1 * tick, float(tick), dict(samples_at(0.1 * tick)))
    recording = InputRecording.load(recorder.save(tmp_path / "inputs.npz"))
    assert len(recording) == 5
    tick = recording[3]
    assert (tick.time, tick.requests) == (0.1 * 3, 3.0)
    for name, wanted in samples_at(0.1 * 3).items():
        sample = tick.samples[name]
        if wanted is None:
            assert sample is None
            continue
        assert sample is not None
        assert (sample.timestamp, sample.valid) == (wanted.timestamp, wanted.valid)
        for field in ("position", "orientation", "joint_angles", "finger_tip_positions"):
            value = getattr(wanted, field, None)
            if value is not None:
                np.testing.assert_array_equal(getattr(sample, field), value)


def test_a_recorded_source_delivers_tick_after_tick_and_then_nothing() -> None:
    recorder = InputRecorder(["head"])
    for tick in range(2):
        recorder.record(float(tick), 0.0, {"head": samples_at(float(tick))["head"]})
    source = RecordedSource(InputRecording(recorder.table.columns()))
    source.connect()
    stamps = [sample.timestamp for _ in range(2) if (sample := source.read(0.0)["head"])]
    assert stamps == [0.0, 1.0]
    assert source.read(0.0) == {}


def test_a_file_that_is_not_a_recording_of_inputs_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ConfigError, match="not a recording of inputs"):
        InputRecording.load(path)
    with pytest.raises(ConfigError, match=r"missing\.npz"):
        InputRecording.load(tmp_path / "missing.npz")
