# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest


@pytest.fixture
def user_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that counts as the user's own models."""
    folder = tmp_path / "user_models"
    folder.mkdir()
    monkeypatch.setenv("TELEOP_MODELS_DIR", str(folder))
    return folder
