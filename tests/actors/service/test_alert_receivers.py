"""The delivery of alerts as an actor of the service."""

from __future__ import annotations

from pathlib import Path
from random import Random

import anyio
import pytest

from actors.alerts.message import Message
from actors.alerts.receivers.options import ReceiverSettings
from actors.runtime.actor import ActorState
from actors.service.settings import load
from actors.service.system import System
from tests.support.builders.alerts import alert
from tests.support.systems.virtual_service import CONFIG
from tests.support.time.virtual import VirtualClock, settle

pytestmark = pytest.mark.anyio

RECEIVERS = """
[alerts]
path = "queue"
[receivers.team]
kind = "slack"
url = "https://h.example/hook"
"""


async def test_the_delivery_is_an_actor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delivery starts and stops like any actor; after a restart it sends alerts that wait on disk."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(CONFIG + RECEIVERS, "utf-8")
    settings, taken = load(path, {}), list[str]()

    async def send(_: ReceiverSettings, message: Message) -> None:
        taken.append(message.alerts[0].id)

    for life in range(2):
        system = System(settings, VirtualClock(), Random(1), send=send)
        assert system.delivery is not None
        async with anyio.create_task_group() as tasks:
            await tasks.start(system.supervisor.run)
            await settle()
            assert ActorState.RUNNING is system.status.actors["delivery"].state
            if not life:
                system.delivery.offer(alert(1, "team"))
                await settle()
                assert [] == taken
            await system.supervisor.stop()
        system.delivery.close(60)

    assert [alert(1).id] == taken
