# SPDX-License-Identifier: Apache-2.0
"""The folders of the tests mirror those of the package."""

from pathlib import Path

import teleop_system

TESTS = Path(__file__).parent
PACKAGE = Path(teleop_system.__file__).parent
APART = {
    ".": "what concerns the whole package: imports, layers, packaging, settings",
    "models": "the robot models in models/ are data, not modules",
    "scripts": "the entry points in scripts/ lie outside the package",
}
"""Folders of tests without a counterpart in the package, and why."""


def folders() -> list[str]:
    return sorted({path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("*.py")})


def test_every_folder_of_tests_is_a_folder_or_a_module_of_the_package() -> None:
    others = [name for name in folders() if name not in APART]
    assert not [
        name
        for name in others
        if not (PACKAGE / name / "__init__.py").is_file()
        and not (PACKAGE / f"{name}.py").is_file()
    ]


def test_every_exception_is_in_use() -> None:
    assert set(APART) <= set(folders())
