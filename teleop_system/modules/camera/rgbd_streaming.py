# SPDX-License-Identifier: Apache-2.0
"""Public names of the TCP RGB-D streaming package `streaming`."""

from teleop_system.modules.camera.streaming.client import ClientStats, RGBDStreamClient
from teleop_system.modules.camera.streaming.codec import PackedImages, RGBDCodec
from teleop_system.modules.camera.streaming.config import (
    CodecConfig,
    StreamingConfig,
    StreamLimits,
    TlsConfig,
    load_token,
)
from teleop_system.modules.camera.streaming.head_control import HeadRequest
from teleop_system.modules.camera.streaming.server import RGBDStreamServer, ServerStats

__all__ = [
    "ClientStats",
    "CodecConfig",
    "HeadRequest",
    "PackedImages",
    "RGBDCodec",
    "RGBDStreamClient",
    "RGBDStreamServer",
    "ServerStats",
    "StreamLimits",
    "StreamingConfig",
    "TlsConfig",
    "load_token",
]
