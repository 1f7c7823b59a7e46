# SPDX-License-Identifier: Apache-2.0

import dataclasses
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, DeviceNotConnectedError, StreamError
from teleop_system.modules.camera.rgbd_streaming import (
    HeadRequest,
    RGBDStreamClient,
    RGBDStreamServer,
    StreamingConfig,
    TlsConfig,
)
from teleop_system.testing import CameraStreamSuite
from tests.modules.camera.streaming.scenes import (
    TOKEN,
    FakeCamera,
    quick_config,
    scene,
)
from tests.waiting import stays, wait_for, wait_until_constant


@pytest.fixture
def camera() -> Iterator[FakeCamera]:
    camera = FakeCamera(fps=60.0)
    yield camera
    camera.shutdown()


def connect(server: RGBDStreamServer, **changes: object) -> RGBDStreamClient:
    client = RGBDStreamClient(quick_config(server.address[1], **changes), token=TOKEN)
    assert client.initialize()
    return client


class TestClientIsACamera(CameraStreamSuite):
    """The client of a stream keeps the promises of a camera."""

    @pytest.fixture(autouse=True)
    def server(self, camera: FakeCamera) -> Iterator[None]:
        with RGBDStreamServer(camera, quick_config(), token=TOKEN) as server:
            self._port = server.address[1]
            yield

    def create(self) -> RGBDStreamClient:
        return RGBDStreamClient(quick_config(self._port), token=TOKEN)


def test_a_frame_arrives_with_its_geometry_and_time(camera: FakeCamera) -> None:
    with RGBDStreamServer(camera, quick_config(), token=TOKEN) as server:
        client = connect(server)
        camera.set_orientation(0.25, -0.5)
        wait_for(lambda: client.get_orientation() == (0.25, -0.5))
        found = client.get_rgbd()
        expected = camera.get_rgbd()
        np.testing.assert_array_equal(found.intrinsics, expected.intrinsics)
        np.testing.assert_array_equal(found.extrinsics, expected.extrinsics)
        assert abs(time.monotonic() - found.timestamp) < 0.5
        client.shutdown()


def test_many_clients_get_frames_while_one_reads_nothing(camera: FakeCamera) -> None:
    large = FakeCamera(fps=60.0, size=(640, 480))
    config = dataclasses.replace(
        quick_config(stall=30.0), codec=dataclasses.replace(StreamingConfig().codec, quality=95)
    )
    with RGBDStreamServer(large, config, token=TOKEN) as server:
        lazy = stalled_connection(server)
        clients = [connect(server) for _ in range(5)]
        before = [client.stats().frames for client in clients]
        wait_for(
            lambda: all(c.stats().frames > b + 30 for c, b in zip(clients, before, strict=True))
        )
        assert server.stats().clients == 6
        wait_for(lambda: server.stats().skipped > 10)
        for client in clients:
            client.shutdown()
        lazy.close()
    large.shutdown()


def stalled_connection(server: RGBDStreamServer) -> socket.socket:
    """Return a connection that proved itself and then never reads again."""
    from tests.modules.camera.streaming.raw_client import RawClient

    raw = RawClient(server.address[1], receive_buffer=4096)
    raw.greet(TOKEN)
    return raw.socket


def test_a_client_that_reads_nothing_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    large = FakeCamera(fps=60.0, size=(640, 480))
    with RGBDStreamServer(large, quick_config(stall=0.5), token=TOKEN) as server:
        lazy = stalled_connection(server)
        wait_for(lambda: server.stats().clients == 0)
        assert "it has read nothing for 0.5 s" in caplog.text
        lazy.close()
    large.shutdown()


def test_head_orientations_reach_the_server_with_their_time(camera: FakeCamera) -> None:
    requests: list[HeadRequest] = []
    with RGBDStreamServer(camera, quick_config(), token=TOKEN, on_head=requests.append) as server:
        client = connect(server)
        # Half the round trip bounds the error between the two clocks.
        wait_for(lambda: 0.0 < client.stats().round_trip < 0.02)
        stamp = time.monotonic() - 0.03
        assert client.send_head([0.0, 0.0, 0.6, 0.8], stamp)
        wait_for(lambda: bool(requests))
        np.testing.assert_allclose(requests[0].orientation, [0.0, 0.0, 0.6, 0.8], atol=1e-12)
        assert abs(requests[0].timestamp - stamp) < 0.02
        client.set_orientation(0.4, 9.0)
        wait_for(lambda: requests[-1].angles is not None)
        assert requests[-1].angles == pytest.approx((0.4, np.pi))
        client.shutdown()
        assert not client.send_head([0.0, 0.0, 0.0, 1.0])


def test_only_one_operator_at_a_time_moves_the_head(camera: FakeCamera) -> None:
    requests: list[HeadRequest] = []
    with RGBDStreamServer(camera, quick_config(), token=TOKEN, on_head=requests.append) as server:
        first, second = connect(server), connect(server)
        first.set_orientation(0.1, 0.0)
        wait_for(lambda: len(requests) == 1)
        second.set_orientation(0.2, 0.0)
        assert stays(lambda: len(requests) == 1, 0.1)
        first.shutdown()
        wait_for(lambda: server.stats().head is None)
        second.set_orientation(0.3, 0.0)
        wait_for(lambda: len(requests) == 2)
        second.shutdown()


def test_the_head_can_be_switched_off(camera: FakeCamera) -> None:
    requests: list[HeadRequest] = []
    config = quick_config(head=False)
    with RGBDStreamServer(camera, config, token=TOKEN, on_head=requests.append) as server:
        client = connect(server)
        client.set_orientation(0.1, 0.0)
        frames = client.stats().frames
        wait_for(lambda: client.stats().frames > frames + 3)
        assert not requests
        client.shutdown()


def test_a_wrong_token_is_refused_at_both_ends(
    camera: FakeCamera, caplog: pytest.LogCaptureFixture
) -> None:
    with RGBDStreamServer(camera, quick_config(), token=TOKEN) as server:
        stranger = RGBDStreamClient(quick_config(server.address[1]), token="something else")
        begun = time.monotonic()
        assert stranger.initialize() is False
        assert time.monotonic() - begun < 0.9, "a refusal is reported at once"
        assert server.stats().clients == 0
    assert "its token is wrong" in caplog.text


def test_a_server_that_does_not_know_the_token_is_left(
    camera: FakeCamera, caplog: pytest.LogCaptureFixture
) -> None:
    from tests.modules.camera.streaming.raw_server import impostor

    with impostor() as port:
        client = RGBDStreamClient(quick_config(port), token=TOKEN)
        assert client.initialize() is False
    assert "the server does not know the token" in caplog.text


def test_a_public_address_without_a_token_is_refused(camera: FakeCamera) -> None:
    with pytest.raises(ConfigError, match="needs a token"):
        RGBDStreamServer(camera, StreamingConfig(host="0.0.0.0", port=0))


def test_a_port_in_use_is_an_error_that_names_it(camera: FakeCamera) -> None:
    with RGBDStreamServer(camera, quick_config()) as server:
        port = server.address[1]
        with pytest.raises(StreamError, match=f"127.0.0.1:{port}"):
            RGBDStreamServer(camera, quick_config(port)).start()


def test_a_full_server_refuses_with_the_reason(
    camera: FakeCamera, caplog: pytest.LogCaptureFixture
) -> None:
    with RGBDStreamServer(camera, quick_config(clients=1), token=TOKEN) as server:
        first = connect(server)
        second = RGBDStreamClient(quick_config(server.address[1]), token=TOKEN)
        assert second.initialize() is False
        assert "the limit of 1 clients is reached" in caplog.text
        assert first.is_connected()
        first.shutdown()


def test_a_client_reconnects_when_its_server_returns(camera: FakeCamera) -> None:
    with RGBDStreamServer(camera, quick_config(), token=TOKEN) as server:
        port = server.address[1]
        client = connect(server)
    wait_for(lambda: not client.is_connected())
    with pytest.raises(DeviceNotConnectedError):
        client.get_rgbd()
    with RGBDStreamServer(camera, quick_config(port), token=TOKEN):
        wait_for(client.is_connected)
        assert client.stats().connections == 2
    client.shutdown()


def test_a_client_may_start_before_its_server(camera: FakeCamera) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    client = RGBDStreamClient(quick_config(port), token=TOKEN)
    client.start()
    assert not client.is_connected()
    with RGBDStreamServer(camera, quick_config(port), token=TOKEN):
        wait_for(client.is_connected)
    client.shutdown()


def test_statistics_contain_rate_latency_and_loss(camera: FakeCamera) -> None:
    with RGBDStreamServer(camera, quick_config(fps=60.0), token=TOKEN) as server:
        client = connect(server)
        wait_for(lambda: client.stats().frames > 40 and client.stats().latency > 0.0)
        stats = client.stats()
        assert 20.0 < stats.fps < 70.0
        assert 0.0 < stats.latency < 0.2
        assert 0.0 < stats.round_trip < 0.1
        assert stats.faults == 0
        client.shutdown()


def test_a_camera_that_fails_does_not_end_the_stream(camera: FakeCamera) -> None:
    with RGBDStreamServer(camera, quick_config(), token=TOKEN) as server:
        client = connect(server)
        camera.shutdown()
        wait_until_constant(lambda: client.stats().frames, 0.3, within=1.0)
        frames = client.stats().frames
        camera.show(scene())
        wait_for(lambda: client.stats().frames > frames)
        client.shutdown()


def test_stamps_of_another_clock_are_replaced(camera: FakeCamera) -> None:
    camera = FakeCamera()
    camera.show(dataclasses.replace(scene(), timestamp=5.0))
    with RGBDStreamServer(camera, quick_config(), token=TOKEN) as server:
        client = connect(server)
        assert abs(time.monotonic() - client.get_rgbd().timestamp) < 1.0
        client.shutdown()


def test_encrypted_frames_reach_only_clients_that_trust_the_server(
    camera: FakeCamera, tmp_path: Path
) -> None:
    certificate, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", key, "-out", certificate, "-days", "2"]
    subprocess.run(["openssl", "req", *kind, *files, *subject], check=True, capture_output=True)
    tls = TlsConfig(certificate, key)
    with RGBDStreamServer(camera, quick_config(tls=tls), token=TOKEN) as server:
        client = connect(server, tls=TlsConfig(authority=certificate))
        assert client.get_rgbd().width == 160
        client.shutdown()
        plain = RGBDStreamClient(quick_config(server.address[1]), token=TOKEN)
        assert plain.initialize() is False
        doubtful = dataclasses.replace(
            quick_config(server.address[1]), tls=TlsConfig(authority=_other(tmp_path))
        )
        assert RGBDStreamClient(doubtful, token=TOKEN).initialize() is False


def _other(folder: Path) -> str:
    certificate = str(folder / "other.pem")
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", str(folder / "other_key.pem"), "-out", certificate, "-subj", "/CN=x"]
    subprocess.run(["openssl", "req", *kind, *files], check=True, capture_output=True)
    return certificate
