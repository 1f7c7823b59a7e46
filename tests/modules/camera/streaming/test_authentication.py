# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.modules.camera.rgbd_streaming import StreamingConfig, TlsConfig, load_token
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.config import TOKEN_VARIABLE


def test_only_a_client_with_the_token_can_prove_it() -> None:
    ours, theirs = authentication.new_nonce(), authentication.new_nonce()
    proof = authentication.client_proof("the right token", ours, theirs)
    assert authentication.is_same(
        proof, authentication.client_proof("the right token", ours, theirs)
    )
    others = [
        authentication.client_proof("the wrong token", ours, theirs),
        authentication.client_proof(None, ours, theirs),
        authentication.client_proof("the right token", theirs, ours),
        # An echo of the client's own proof must not pass for the server's.
        authentication.server_proof("the right token", ours, theirs),
    ]
    assert not any(authentication.is_same(proof, other) for other in others)


def test_nonces_are_not_repeated() -> None:
    assert authentication.new_nonce() != authentication.new_nonce()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_this_machine_needs_no_token(host: str) -> None:
    authentication.require_safe_bind(StreamingConfig(host=host), None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.10", "10.1.2.3"])
def test_a_public_address_needs_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="TELEOP_STREAM_TOKEN"):
        authentication.require_safe_bind(StreamingConfig(host=host), None)
    authentication.require_safe_bind(StreamingConfig(host=host), "a token long enough")


def test_an_unknown_host_name_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no address"):
        authentication.is_loopback("no-such-name.invalid")


def test_the_environment_overrides_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("  from the file, 16+\n")
    config = StreamingConfig(token_file=str(file))
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert load_token(config) == "from the file, 16+"
    monkeypatch.setenv(TOKEN_VARIABLE, "from the environment")
    assert load_token(config) == "from the environment"


def test_a_missing_token_is_allowed_and_a_bad_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert load_token(StreamingConfig()) is None
    with pytest.raises(ConfigError, match="cannot read token_file"):
        load_token(StreamingConfig(token_file=str(tmp_path / "absent")))
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ConfigError, match="empty"):
        load_token(StreamingConfig(token_file=str(tmp_path / "empty")))
    monkeypatch.setenv(TOKEN_VARIABLE, "short")
    with pytest.raises(ConfigError, match="at least 16 characters, got 5"):
        load_token(StreamingConfig())


def test_unusable_tls_files_are_reported(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.pem")
    with pytest.raises(ConfigError, match=r"absent\.pem"):
        authentication.server_tls(StreamingConfig(tls=TlsConfig(absent, absent)))
    with pytest.raises(ConfigError, match=r"absent\.pem"):
        authentication.client_tls(StreamingConfig(tls=TlsConfig(authority=absent)))
    with pytest.raises(ConfigError, match="go together"):
        TlsConfig(certificate=absent)
