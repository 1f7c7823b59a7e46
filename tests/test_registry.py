# SPDX-License-Identifier: Apache-2.0
"""Names in a configuration refer to classes: ours, and those of installed packages."""

from importlib import metadata
from pathlib import Path

import pytest

from teleop_system import registry
from teleop_system.exceptions import RegistryError, UnknownNameError

PLUGIN = '''
class FancySolver:
    """A third party's solver."""

    def __init__(self, gain=1.0):
        self.gain = gain
'''


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution with entry points, as pip would lay it out."""
    (tmp_path / "fancy_robotics.py").write_text(PLUGIN)
    info = tmp_path / "fancy_robotics-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fancy-robotics\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[teleop_system.solver]\n"
        "fancy = fancy_robotics:FancySolver\n"
        "qp = fancy_robotics:FancySolver\n"
        "broken = fancy_robotics:NoSuchClass\n"
        "absent = no_such_module:Anything\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert metadata.version("fancy-robotics") == "1.0"


@pytest.mark.parametrize("kind", registry.kinds())
def test_every_built_in_name_refers_to_a_class(kind: str) -> None:
    for name in registry._BUILT_IN[kind]:
        assert isinstance(registry.find(kind, name), type)


def test_an_unknown_name_is_reported_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'mujoco'\?") as caught:
        registry.find("simulator", "mujocco")
    assert caught.value.choices == ("mujoco",)


def test_an_unknown_kind_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="solver"):
        registry.names("sollver")


@pytest.mark.usefixtures("third_party")
def test_an_installed_package_can_add_a_class() -> None:
    assert "fancy" in registry.names("solver")
    assert registry.create("solver", "fancy", gain=3.0).gain == 3.0


@pytest.mark.usefixtures("third_party")
def test_an_installed_package_cannot_replace_one_of_ours() -> None:
    assert registry.find("solver", "qp").__module__ == "teleop_system.solvers.qp_ik_solver"


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize(("name", "reason"), [("broken", "NoSuchClass"), ("absent", "no_such")])
def test_a_plug_in_that_cannot_be_loaded_is_reported_with_the_reason(
    name: str, reason: str
) -> None:
    with pytest.raises(RegistryError, match=reason):
        registry.find("solver", name)
