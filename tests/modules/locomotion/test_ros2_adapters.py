# SPDX-License-Identifier: Apache-2.0
"""The base over topics keeps the promises of its interface."""

from collections.abc import Iterator

import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from typing_extensions import override

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces import IMobileBase
from teleop_system.modules.locomotion.ros2_adapters import BaseCommandTopic
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.testing import MobileBaseSuite
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile
from tests.ros2.spinning import spinning, wait_for


@pytest.fixture(scope="module")
def node() -> Iterator[TeleopNode]:
    with spinning() as made:
        yield made


class TestBaseCommandTopic(MobileBaseSuite):
    @pytest.fixture(autouse=True)
    def use(self, node: TeleopNode) -> None:
        self.node = node

    @override
    def create(self) -> IMobileBase:
        return BaseCommandTopic(self.node)


def test_velocities_go_out_and_what_is_no_number_stops_the_base(node: TeleopNode) -> None:
    heard: list[Twist] = []
    node.subscribe(Twist, TopicNames.BASE_CMD_VEL, heard.append, QoSPreset.COMMAND)
    base = BaseCommandTopic(node)
    base.initialize()
    for entity in node._managed_entities:
        entity.on_activate(None)

    def is_heard() -> bool:
        base.send_velocity(0.2, 0.0, -0.3)
        return bool(heard)

    wait_for(is_heard)
    assert (heard[0].linear.x, heard[0].angular.z) == (0.2, -0.3)
    with pytest.raises(InvalidValueError):
        base.send_velocity(float("nan"), 0.0, 0.0)
    wait_for(lambda: heard[-1].linear.x == 0.0)
    base.shutdown()


def test_odometry_is_where_the_base_says_it_is(node: TeleopNode) -> None:
    base = BaseCommandTopic(node)
    base.initialize()
    profile = get_qos_profile(QoSPreset.SENSOR_DATA)
    publisher = node.create_publisher(Odometry, TopicNames.BASE_ODOM, profile)
    message = Odometry(child_frame_id="base_link")
    message.header.frame_id = "odom"
    message.pose.pose.position.x = 1.5

    def is_there() -> bool:
        publisher.publish(message)
        return base.get_odometry()[0][0] == 1.5

    wait_for(is_there)
    base.shutdown()
