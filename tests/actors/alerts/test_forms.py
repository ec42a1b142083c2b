"""Forms of receivers: each request is as its receiver documents, and names in it are plain text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.alerts.alert import State
from actors.alerts.message import MAX_ALERTS, Message, content, messages_of
from actors.alerts.receivers.forms import FORMS
from actors.alerts.receivers.options import Form, ReceiverSettings, faults
from actors.alerts.receivers.outgoing import Post, Run
from actors.alerts.receivers.text import UNLINKED
from actors.alerts.receivers.webhook import signature
from tests.support.builders.alerts import alert, message
from tests.support.peers.receivers import READERS, SECRET, webhook

URL = "https://receiver.example/topic"
HOSTILE = (
    "@everyone <!channel> <@U1> <@&2> *b* _i_ ~s~ `c` ||x|| [a](https://evil.example) 1. - # > & &amp; \\"
)
TITLES = st.lists(st.text(max_size=600), min_size=1, max_size=MAX_ALERTS)


def sent(kind: Form, found: Message) -> Post:
    """Return the request that a receiver of this form gets."""
    settings = ReceiverSettings(kind, URL, SECRET if kind is Form.WEBHOOK else None)
    post = FORMS[kind](settings, found, found.at)
    assert isinstance(post, Post)
    return post


@pytest.mark.parametrize("kind", [*READERS])
@given(titles=TITLES, state=st.sampled_from(State))
def test_any_name_fits_and_is_only_text(kind: Form, titles: list[str], state: State) -> None:
    """Whatever names contain, a receiver reads one line per alert, within its limits, without markup."""
    told = message(*(alert(1, title=title, state=state) for title in titles))

    read = READERS[kind](sent(Form(kind), told))

    assert len(titles) == len(read.split("\n"))


@pytest.mark.parametrize("kind", ["slack", "discord"])
def test_mentions_and_markup_are_shown_as_written(kind: str) -> None:
    """A reader sees markup characters as they are; only at signs are changed, so that none is a mention."""
    read = READERS[kind](sent(Form(kind), message(alert(title=HOSTILE))))

    assert f"{HOSTILE.replace('@', UNLINKED)} (2026-05-28 20:26:40 UTC)" == read


def test_a_webhook_is_signed_and_whole() -> None:
    """The webhook's verifier accepts the request; its content has everything but the ids of receivers."""
    told = message(alert(1, details={"home": "Ajax\ud800", "line": 2.5, "league": None}))

    read = webhook(sent(Form.WEBHOOK, told))

    assert json.loads(json.dumps(content(told))) == read
    assert {"home": "Ajax?", "line": 2.5, "league": None} == read["alerts"][0]["details"]
    assert "to" not in read["alerts"][0]


def test_the_id_is_of_receiver_and_alerts_alone() -> None:
    """The same alerts to a receiver have the same id later, in another life and under another number."""
    some = [alert(1, "a", "b"), alert(1, "b")]

    first, again = ([*messages_of(some, number, at)] for number, at in ((0, 1.0), (70, 2.0)))

    assert [found.id for found in first] == [found.id for found in again]
    assert 2 == len({found.id for found in first})


def test_alerts_of_one_commit_are_one_message_of_limited_length() -> None:
    """Each receiver gets the alerts of one version together, at most ten per message, in their order."""
    some = [alert(1, "a", title=str(number)) for number in range(12)] + [alert(2, "a", "b")]

    found = [*messages_of(some, 5, 1.0)]

    assert [("a", 5, 10), ("a", 6, 2), ("a", 7, 1), ("b", 8, 1)] == [
        (each.receiver, each.number, len(each.alerts)) for each in found
    ]
    assert [str(number) for number in range(10)] == [each.title for each in found[0].alerts]


def test_ntfy_publishes_to_the_root_with_a_token() -> None:
    """The topic is the path of the address, and the secret is an access token."""
    post = FORMS[Form.NTFY](ReceiverSettings(Form.NTFY, "https://n.example:8/odds", "tk_1"), message(), 0.0)

    assert isinstance(post, Post)
    assert ("https://n.example:8/", "Bearer tk_1") == (post.url, post.headers["Authorization"])
    assert "odds" == json.loads(post.body)["topic"]


def test_programs_get_the_message_on_their_input() -> None:
    """`exec` gets the content of a webhook; Apprise gets its address on the input, not as an argument."""
    told, url = message(alert(title="@all")), "tgram://TOKEN/CHAT"
    run = FORMS[Form.EXEC](ReceiverSettings(Form.EXEC, command=("x", "y")), told, 0.0)
    by_apprise = FORMS[Form.APPRISE](ReceiverSettings(Form.APPRISE, url), told, 0.0)

    assert isinstance(run, Run)
    assert isinstance(by_apprise, Run)
    assert ("x", "y") == run.command
    assert json.loads(json.dumps(content(told))) == json.loads(run.stdin)
    assert url == json.loads(by_apprise.stdin)["url"]
    assert url not in str(by_apprise.command)


CASES: list[tuple[dict[str, Any], str]] = [
    ({"kind": "webhook", "secret": SECRET}, "url is missing, must be http://HOST... or https://HOST..."),
    ({"kind": "webhook", "url": "ftp://h/PRIVATE", "secret": SECRET}, "url was 'ftp://***', must be http"),
    ({"kind": "webhook", "url": "http://[PRIVATE", "secret": SECRET}, "url was '"),
    ({"kind": "webhook", "url": URL}, "secret is missing, must be whsec_"),
    ({"kind": "webhook", "url": URL, "secret": "whsec_c2hvcnQ="}, "secret was '***', must be whsec_"),
    ({"kind": "slack", "url": URL, "secret": "s"}, "secret must be left out"),
    ({"kind": "slack", "url": URL, "command": ["x"]}, "command must be left out"),
    (
        {"kind": "ntfy", "url": "https://ntfy.sh/a/b"},
        "url was 'https://***', must be the address of a topic",
    ),
    ({"kind": "exec"}, "command is missing"),
    ({"kind": "exec", "command": ["x"], "url": URL}, "url must be left out"),
    ({"kind": "exec", "command": ["x"], "allow_private": True}, "allow_private must be left out"),
    ({"kind": "apprise", "url": "tgram://a/b"}, "kind needs apprise; pip install 'oddsboard[apprise]'"),
]


@pytest.mark.parametrize(("table", "begin"), CASES)
def test_faults_are_said_without_secrets(table: dict[str, Any], begin: str) -> None:
    """Wrong settings of a receiver give one fault, which says what is allowed."""
    settings = ReceiverSettings(**{**table, "kind": Form(table["kind"])})

    (found,) = faults(settings, has_apprise=False)

    assert found.startswith(begin)
    assert "PRIVATE" not in found


def test_the_signature_is_that_of_the_published_example() -> None:
    """The published example of Standard Webhooks has this signature."""
    secret, told = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"

    found = signature(secret, told, 1614265330, b'{"test": 2432232314}')

    assert "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" == found
