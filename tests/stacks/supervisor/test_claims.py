# SPDX-License-Identifier: Apache-2.0
"""Names of nodes on one machine: one process holds them until it ends or releases them."""

import subprocess
import sys

import pytest

from teleop_system.stacks.supervisor.claims import NameClaims

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")

DOMAIN = 4242
HOLDER = f"""
from teleop_system.stacks.supervisor.claims import NameClaims
claims = NameClaims({DOMAIN})
print(claims.reserve(["/b", "/a"]), flush=True)
input()
"""


def test_a_process_holds_its_names_until_it_ends() -> None:
    command = [sys.executable, "-c", HOLDER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "[]\n"
        claims = NameClaims(DOMAIN)
        assert claims.reserve(["/c", "/b", "/a"]) == ["/a", "/b"]
        holder.kill()
        holder.wait()
        assert claims.reserve(["/a", "/b"]) == []
        claims.release()


def test_released_names_can_be_reserved_again() -> None:
    long = "/" + 40 * "a_rather_long_name/" + "node"
    first, second = NameClaims(DOMAIN), NameClaims(DOMAIN)
    assert first.reserve([long]) == []
    assert second.reserve([long]) == [long]
    first.release()
    assert second.reserve([long]) == []
    second.release()


def test_domains_are_separate() -> None:
    first, second = NameClaims(DOMAIN), NameClaims(DOMAIN + 1)
    assert first.reserve(["/a"]) == second.reserve(["/a"]) == []
    first.release()
    second.release()
