# SPDX-License-Identifier: Apache-2.0

from teleop_system.devices.frame_pairing import FramePairer


def pairer(**changes: float) -> "FramePairer[str, str]":
    return FramePairer(**changes)


def test_images_of_one_exposure_are_paired_in_either_order() -> None:
    pairs = pairer()
    assert pairs.add_color(1.0, "c1", now=0.0) is None
    assert pairs.add_depth(1.001, "d1", now=0.0) == (1.0, "c1", "d1")
    assert pairs.add_depth(1.033, "d2", now=0.0) is None
    assert pairs.add_color(1.033, "c2", now=0.0) == (1.033, "c2", "d2")


def test_images_too_far_apart_are_not_paired() -> None:
    pairs = pairer(window=0.017)
    pairs.add_color(1.0, "c1", now=0.0)
    assert pairs.add_depth(1.02, "d1", now=0.0) is None


def test_the_nearest_depth_is_taken() -> None:
    pairs = pairer(window=0.02)
    pairs.add_depth(0.990, "far", now=0.0)
    pairs.add_depth(1.002, "near", now=0.0)
    assert pairs.add_color(1.0, "c", now=0.0) == (1.0, "c", "near")


def test_no_image_is_used_twice_and_pairs_stay_in_order() -> None:
    pairs = pairer()
    pairs.add_color(1.0, "c1", now=0.0)
    pairs.add_color(1.033, "c2", now=0.0)
    assert pairs.add_depth(1.033, "d2", now=0.0) == (1.033, "c2", "d2")
    assert pairs.add_depth(1.0, "d1", now=0.0) is None
    assert pairs.add_color(1.034, "c3", now=0.0) is None


def test_colour_is_returned_alone_when_depth_is_missing() -> None:
    pairs = pairer(patience=0.5)
    assert pairs.add_color(1.0, "c1", now=10.0) is None
    assert pairs.add_color(1.5, "c2", now=10.4) is None
    assert pairs.add_color(1.7, "c3", now=10.6) == (1.7, "c3", None)
    assert pairs.add_depth(1.8, "d", now=10.7) is None
    assert pairs.add_color(1.8, "c4", now=10.7) == (1.8, "c4", "d")


def test_unpaired_images_do_not_accumulate() -> None:
    pairs = pairer()
    for count in range(1000):
        pairs.add_depth(float(count), "d", now=0.0)
    assert pairs.add_color(0.0, "c", now=0.0) is None
