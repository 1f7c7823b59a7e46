# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from teleop_system.stacks.topic_table import SERVICES, TOPICS, page
from teleop_system.utils.ros2_helpers import TopicNames

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "topics.md"


def test_the_page_agrees_with_the_table() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == page()


def test_every_name_is_in_the_table_once() -> None:
    named = {value for key, value in vars(TopicNames).items() if key.isupper()}
    listed = [row.name.removesuffix("/*") for row in (*TOPICS, *SERVICES)]
    assert sorted(listed) == sorted(named)
