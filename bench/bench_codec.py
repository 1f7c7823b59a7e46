# SPDX-License-Identifier: Apache-2.0
"""Time and size of the RGB-D codec, against JPEG plus LZ4 on float32 depth.

Both alternate on the same frames, clean and noisy. Processor time is compared, which other
programs hardly affect; the fastest of all repetitions counts.
"""

import time
from collections.abc import Callable

import lz4.block
import numpy as np
import simplejpeg

from bench.views import noisy, rendered_frame
from teleop_system.interfaces import RGBDFrame
from teleop_system.modules.camera.rgbd_streaming import CodecConfig, RGBDCodec

REPETITIONS = 60
LONGEST, LARGEST, LEAST_GAIN = 2.5e-3, 70_000, 2.0


def rows(repetitions: int = REPETITIONS) -> list[dict[str, object]]:
    """Measure both on both frames; return time, size and the verdict."""
    clean = rendered_frame()
    table: list[dict[str, object]] = []
    for name, frame in (("rendered", clean), ("noisy", noisy(clean))):
        ours, theirs = _compare(frame, repetitions)
        gain, ratio = theirs["size"] / ours["size"], ours["time"] / theirs["time"]
        is_met = gain >= LEAST_GAIN and ratio <= 1.0
        if name == "rendered":
            is_met = is_met and ours["time"] <= LONGEST and ours["size"] <= LARGEST
        table.append(
            {
                "frame": name,
                "encode [ms]": round(1e3 * ours["encode"], 2),
                "decode [ms]": round(1e3 * ours["decode"], 2),
                "both [ms]": round(1e3 * ours["time"], 2),
                "at most [ms]": 1e3 * LONGEST if name == "rendered" else None,
                "peer, both [ms]": round(1e3 * theirs["time"], 2),
                "time over peer": round(ratio, 2),
                "size [kB]": round(ours["size"] / 1e3, 1),
                "of which depth [kB]": round(ours["depth"] / 1e3, 1),
                "at most [kB]": LARGEST / 1e3 if name == "rendered" else None,
                "peer, size [kB]": round(theirs["size"] / 1e3, 1),
                "times smaller": round(gain, 1),
                "colour PSNR [dB]": round(ours["psnr"], 1),
                "depth error [mm]": round(1e3 * ours["error"], 3),
                "ok": bool(is_met),
            }
        )
    return table


def _compare(frame: RGBDFrame, repetitions: int) -> tuple[dict[str, float], dict[str, float]]:
    codec, quality = RGBDCodec(), CodecConfig().quality
    packed = codec.encode(frame)
    rgb, depth = codec.decode(packed)

    def encode_peer() -> tuple[bytes, bytes]:
        color = simplejpeg.encode_jpeg(frame.rgb, quality=quality, colorsubsampling="420")
        return color, lz4.block.compress(frame.depth, store_size=False)

    def decode_peer() -> None:
        simplejpeg.decode_jpeg(peer[0], fastupsample=True)
        raw = lz4.block.decompress(peer[1], uncompressed_size=frame.depth.nbytes)
        np.frombuffer(raw, np.float32).reshape(frame.depth.shape)

    peer = encode_peer()
    works = (lambda: codec.encode(frame), lambda: codec.decode(packed), encode_peer, decode_peer)
    # They alternate, so that disturbances of the machine affect all.
    times = np.array([[_timed(work) for work in works] for _ in range(repetitions)])
    encode, decode, their_encode, their_decode = np.min(times, axis=0)
    measured = (frame.depth > 0.0) & (frame.depth < 65.5)
    error = np.mean((rgb.astype(np.float64) - frame.rgb) ** 2)
    ours = {
        "encode": encode,
        "decode": decode,
        "time": encode + decode,
        "size": float(packed.size),
        "depth": float(len(packed.depth)),
        "psnr": 10.0 * np.log10(255.0**2 / error),
        "error": float(np.abs(depth - frame.depth)[measured].max()),
    }
    theirs = {"time": their_encode + their_decode, "size": float(sum(map(len, peer)))}
    return ours, theirs


def _timed(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
