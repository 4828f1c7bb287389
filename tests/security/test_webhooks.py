"""A webhook opens to who signs, now, and once; to all others it is a wall that keeps nothing (B-123)."""

from __future__ import annotations

import asyncio
import hmac
import json
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from hooking import SECRET, advance, alert, group, sender_to, with_hook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy
from pydantic import SecretStr
from world import running

from hermes_bot.access import Policy, Where
from hermes_bot.alongside import Alongside
from hermes_bot.app import App
from hermes_bot.config import Access, Bot, Config, Secrets, WebhookSection
from hermes_bot.errors import ConfigError
from hermes_bot.store import audit
from hermes_bot.webhooks.door import Door, Pauses
from hermes_bot.webhooks.payloads import Event, UnreadableError, read_event
from hermes_bot.webhooks.settings import hooks_of
from hermes_bot.webhooks.signing import Lock, fault_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator
    from pathlib import Path

    from world import Running

    from hermes_bot.webhooks.settings import Hook
    from hermes_bot.webhooks.taking import Outcome

TABLES = ("inbox", "outbox", "messages", "runs", "alerts", "hook_events", "threads")
EVENT = {"title": "Disk full", "key": "disk", "status": "firing"}


def count(db: sqlite3.Connection) -> int:
    return sum(db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in TABLES)  # noqa: S608


async def stored(bot: Running) -> int:
    """Return how many rows there are of whatever an event could leave behind."""
    return await bot.app.db.read(count)


async def refused(bot: Running) -> list[tuple[str, str]]:
    rows = await bot.app.db.read(lambda db: audit.list_rows(db, 50))
    return [(row.entry.object, row.entry.detail) for row in rows if row.entry.verb == "webhook.refused"][::-1]


async def test_what_is_not_signed_as_it_should_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        raw = json.dumps(EVENT).encode()
        right = sender.signed(raw)
        stamp, made = right["X-Hermes-Timestamp"], right["X-Hermes-Signature"]
        forged: dict[str, dict[str, Any]] = {
            "none": {"X_Hermes_Signature": "", "X_Hermes_Timestamp": ""},
            "no signature": {"X_Hermes_Signature": ""},
            "no timestamp": {"X_Hermes_Timestamp": ""},
            "another secret": {"X_Hermes_Signature": "v1=" + "0" * 64},
            "upper case": {"X_Hermes_Signature": made.replace("v1=", "V1=")},
            "no version": {"X_Hermes_Signature": made.removeprefix("v1=")},
            "cut": {"X_Hermes_Signature": made[:-1]},
            "two in one": {"X_Hermes_Signature": f"{made},{made}"},
            "another moment": {"X_Hermes_Timestamp": str(int(stamp) + 1)},
            "signed number": {"X_Hermes_Timestamp": f"+{stamp}"},
            "a fraction": {"X_Hermes_Timestamp": f"{stamp}.0"},
            "other digits": {"X_Hermes_Timestamp": "１７９３６９３７００"},  # noqa: RUF001 - the point of it
            "no number": {"X_Hermes_Timestamp": "now"},
            "the secret itself": {"Authorization": f"Bearer {SECRET}", "X_Hermes_Signature": ""},
            "grafana's": {"X_Hermes_Signature": "", "X_Grafana_Alerting_Signature": made[3:]},
        }
        for what, headers in forged.items():
            answered = await sender.send(raw, **headers)
            assert answered.status == 401, what
            assert SECRET not in answered.text
        twice = [("X-Hermes-Signature", made), ("X-Hermes-Signature", made), ("X-Hermes-Timestamp", stamp)]
        assert (await sender.post(raw, CIMultiDict(twice))).status == 401
        assert (await sender.send({**EVENT, "title": "other"}, X_Hermes_Signature=made)).status == 401
        assert await stored(bot) == 0
        assert set(await refused(bot)) == {
            ("alerts", "unsigned"),
            ("alerts", "signature"),
            ("alerts", "malformed"),
            ("alerts", "twice"),
        }
        shown = await bot.app.hooks.standing()
        assert shown["hooks"]["alerts"]["refused_today"] == len(forged) + 2


@pytest.mark.parametrize(("ago", "status"), [(301, 401), (299, 200), (-299, 200), (-301, 401), (86_400, 401)])
async def test_a_signature_holds_for_its_window_in_both_directions(
    tmp_path: Path, ago: float, status: int
) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        assert (await sender.send(EVENT, ago=ago)).status == status
        assert bool(await stored(bot)) is (status == 200)


async def test_a_recorded_request_that_is_sent_again_does_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        raw = json.dumps({"title": "A deploy"}).encode()
        early = {**sender.signed(raw, ago=-299), "Content-Type": "application/json"}
        assert (await sender.post(raw, early)).text == "taken\n"
        rows = await stored(bot)
        for _ in range(3):
            assert (await sender.post(raw, early)).text == "already taken\n"
            advance(bot, 200)  # over all of the window, which reaches 300 s behind what it says
        assert (await sender.post(raw, early)).status == 401
        await bot.quiet()
        assert await stored(bot) == rows
        assert (await sender.send(raw)).text == "taken\n"  # the same words, signed anew and much later


async def test_an_event_with_an_id_is_the_same_whatever_else_it_says(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        assert (await sender.send({"id": "7", "title": "A deploy"})).text == "taken\n"
        advance(bot, 3_600)
        assert (await sender.send({"id": "7", "title": "A deploy, again"})).text == "already taken\n"


async def test_a_body_that_is_too_big_is_not_read_to_its_end(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook(max_bytes=10_000)) as bot:
        sender = await sender_to(bot)
        big = json.dumps({"title": "x" * 10_000_000}).encode()
        signed = {**sender.signed(big), "Content-Type": "application/json"}
        assert (await sender.post(BytesIO(big), signed)).status == 413

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, 200_000, 5_000):
                yield big[at : at + 5_000]

        signed = {**sender.signed(big[:200_000]), "Content-Type": "application/json"}
        assert (await sender.post(pieces(), signed)).status == 413
        assert await stored(bot) == 0
        assert await refused(bot) == [("alerts", "too big")]


async def test_a_body_in_pieces_is_taken_as_a_whole(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        raw = json.dumps(EVENT).encode()

        async def pieces() -> AsyncIterator[bytes]:
            for byte in raw:
                yield bytes([byte])

        answered = await sender.post(pieces(), {**sender.signed(raw), "Content-Type": "application/json"})
        assert answered.status == 200


async def test_other_methods_names_and_kinds_are_refused(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        raw = json.dumps(EVENT).encode()
        signed = {**sender.signed(raw), "Content-Type": "application/json"}
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"):
            assert (await sender.post(raw, signed, method)).status == 405, method
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
            assert (await sender.send(raw, Content_Type=kind)).status == 415, kind
        assert (await sender.send(raw, Content_Encoding="gzip")).status == 415
        assert (await sender.send(raw, Content_Type="application/json; charset=utf-8")).status == 200
        sender.name = "others"
        assert (await sender.send(raw)).status == 404
        sender.name = "alerts/../alerts2"
        assert (await sender.send(raw)).status == 404
        assert ("(unknown)", "unknown name") in await refused(bot)


async def test_who_sends_slowly_is_let_go_and_holds_up_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        port = bot.app.hooks.listening.port
        writers = []
        for _ in range(20):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            head = "POST /hooks/alerts HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
            writer.write(head.encode())
            await writer.drain()
            writers.append(writer)
        assert (await sender.send(EVENT)).status == 200
        for writer in writers:
            writer.close()


class Nobody:
    async def take(self, hook: Hook, raw: bytes) -> Outcome:
        raise AssertionError((hook, raw))


async def test_a_body_that_does_not_come_in_time_is_refused(tmp_path: Path) -> None:
    bot = Bot(state_dir=tmp_path)
    hooks = hooks_of(Config(bot=bot, webhooks={"alerts": WebhookSection(channel="slack:T1:C1")}))
    reasons: list[str] = []

    async def refuse(name: str, why: str) -> None:
        reasons.append(f"{name}: {why}")

    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    door = Door(hooks, Nobody(), FakeClock(), refuse, Pauses(body=0.05, idle=0.2, linger=0.05))
    async with Alongside(door.serve("127.0.0.1", 0, listening.set_result)), asyncio.timeout(10):
        port = await listening
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /hooks/alerts HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        assert b" 408 " in await reader.readline()
        await reader.read()  # until the server has let it go
        writer.close()
        assert reasons == ["alerts: slow"]
        silent, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /hooks/alerts HTTP/1.1\r\nHos")
        await silent.read()
        writer.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b'{"title": NaN}',
        b'{"title": Infinity}',
        b'{"title": "\xff"}',
        b'{"title": "a", "title": "b"}',
        b"[" * 100_000,
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"title": {"a": 1}}',
        b'{"status": "broken"}',
        b'{"n": ' + b"9" * 5_000 + b"}",
        "{'title': 'x'}".encode("utf-16"),
    ],
)
async def test_what_does_not_read_is_refused_with_a_reason_and_leaves_nothing(
    tmp_path: Path, raw: bytes
) -> None:
    async with running(tmp_path, **with_hook()) as bot:
        answered = await (await sender_to(bot)).send(raw)
        assert answered.status == 422
        assert 5 < len(answered.text) < 200
        assert await stored(bot) == 0


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)
KNOWN = st.sampled_from(
    [
        *("title", "text", "key", "id", "status", "labels", "url"),
        *("groupKey", "alerts", "commonLabels", "groupLabels", "fingerprint", "startsAt"),
    ]
)


@given(
    st.sampled_from(("generic", "alertmanager", "grafana")),
    st.binary(max_size=300)
    | JSON.map(lambda it: json.dumps(it).encode())
    | st.dictionaries(KNOWN, JSON, max_size=8).map(lambda it: json.dumps(it).encode()),
)
def test_any_body_is_an_event_or_refused(form: Any, raw: bytes) -> None:
    try:
        assert isinstance(read_event(form, raw), Event)
    except UnreadableError as error:
        assert str(error)  # noqa: PT017 - either is right


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(JSON | st.dictionaries(KNOWN, JSON, max_size=8), min_size=1, max_size=8))
def test_no_body_breaks_the_server(tmp_path_factory: pytest.TempPathFactory, bodies: list[Any]) -> None:
    async def send_all() -> None:
        hook = with_hook(skill="log-diagnosis", params={"service": "{{ event.labels.service }}"})
        async with running(tmp_path_factory.mktemp("hook"), **hook) as bot:
            sender = await sender_to(bot)
            for body in bodies:
                assert (await sender.send(body)).status in (200, 422)
            await bot.quiet()

    asyncio.run(send_all())


@given(st.binary(max_size=64), st.text(max_size=80), st.text(max_size=20))
def test_nobody_gets_in_by_chance(body: bytes, signature: str, stamp: str) -> None:
    headers = CIMultiDictProxy(CIMultiDict({"X-Hermes-Signature": signature, "X-Hermes-Timestamp": stamp}))
    assert fault_of(Lock(b"s" * 16, 300), headers, body, FakeClock().now())


def test_a_webhook_without_a_secret_opens_to_nobody() -> None:
    now = FakeClock().now()
    stamp = str(int(now.timestamp()))
    made = hmac.new(b"", f"{stamp}.{{}}".encode(), sha256).hexdigest()
    signed = {"X-Hermes-Signature": f"v1={made}", "X-Hermes-Timestamp": stamp}
    shut = Lock(b"", 300, takes_bearer=True)
    assert fault_of(shut, CIMultiDictProxy(CIMultiDict(signed)), b"{}", now) == "signature"
    bare = CIMultiDictProxy(CIMultiDict({"Authorization": "Bearer "}))
    assert fault_of(shut, bare, b"{}", now) == "bearer"


async def test_a_bearer_is_enough_only_where_the_section_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook(form="alertmanager", bearer=True)) as bot:
        sender = await sender_to(bot)
        unsigned: dict[str, Any] = {"X_Hermes_Signature": "", "X_Hermes_Timestamp": ""}
        for wrong in ("Bearer nothing", f"Basic {SECRET}", f"Bearer {SECRET}x", "Bearer", SECRET):
            assert (await sender.send(group(), **unsigned, Authorization=wrong)).status == 401, wrong
        lied: dict[str, Any] = {"X_Hermes_Signature": "v1=" + "0" * 64, "Authorization": f"Bearer {SECRET}"}
        assert (await sender.send(group(), **lied)).status == 401  # a signature that is there must be right
        assert await stored(bot) == 0
        assert (await sender.send(group(), **unsigned, Authorization=f"Bearer {SECRET}")).status == 200


async def test_grafana_s_own_signature_counts_with_its_moment(tmp_path: Path) -> None:
    async with running(tmp_path, **with_hook(form="grafana")) as bot:
        sender = await sender_to(bot)
        raw = json.dumps(
            group(alert(panelURL="https://grafana.example/d/1"), title="[FIRING:1]", state="alerting")
        )
        stamp = str(int(bot.clock.now().timestamp()))
        made = hmac.new(SECRET.encode(), f"{stamp}:{raw}".encode(), sha256).hexdigest()
        bare = hmac.new(SECRET.encode(), raw.encode(), sha256).hexdigest()
        kind = {"Content-Type": "application/json"}
        ever = {**kind, "X-Grafana-Alerting-Signature": bare}  # without a moment it would be valid for ever
        assert (await sender.post(raw.encode(), ever)).status == 401
        now = {**kind, "X-Grafana-Alerting-Signature": made, "X-Grafana-Alerting-Timestamp": stamp}
        assert (await sender.post(raw.encode(), now)).status == 200


@pytest.mark.parametrize(
    ("section", "secret", "access", "say"),
    [
        ({}, "", {}, "HERMES_WEBHOOK_ALERTS_SECRET is not set"),
        ({}, "short", {}, "at least 16 characters"),
        ({}, SECRET, {"channels": ()}, 'Add "world:T1:C1" to [access] channels'),
        ({"skill": "log-diagnoses"}, SECRET, {}, "log-diagnosis"),
        ({"skill": "log-diagnosis", "params": {"servce": "x"}}, SECRET, {}, "has no servce"),
        ({"text": "{{ event.title "}, SECRET, {}, "[webhooks.alerts] text"),
        ({"text": "{{ evnt.title }}"}, SECRET, {}, "there is no evnt here"),
    ],
)
async def test_a_webhook_that_cannot_be_used_refuses_the_start(
    tmp_path: Path, section: dict[str, Any], secret: str, access: dict[str, Any], say: str
) -> None:
    config = Config(
        bot=Bot(state_dir=tmp_path),
        access=Access(**{"channels": ("world:T1:C1",), **access}),
        webhooks={"alerts": WebhookSection(channel="world:T1:C1", **section)},
        secrets=Secrets(webhooks={"HERMES_WEBHOOK_ALERTS_SECRET": SecretStr(secret)} if secret else {}),
    )
    async with App(config) as app:
        with pytest.raises(ConfigError) as caught:
            await app.run(recover=False)
        assert say in str(caught.value)
        assert any(say in one.say and one.grade == "bad" for one in app.hooks.findings())


def test_a_webhook_gives_work_in_its_channel_and_nothing_else_gives_it_rights() -> None:
    access = Access(channels=("slack:T1:*",), admins=("webhook:alerts",), bots=("webhook:alerts",))
    policy = Policy.of(access, hooks={"alerts": "slack:T1:C1"})
    here, there = Where("slack", "T1", "C1"), Where("slack", "T1", "C2")
    assert policy.allowed("webhook:alerts", "ask", here).ok
    assert policy.may_use("webhook:alerts", "query_logs", "read", here).ok
    assert not policy.allowed("webhook:alerts", "ask", there).ok
    assert not policy.allowed("webhook:others", "ask", here).ok
    for verb in ("command", "answer", "approve", "stop", "continue", "overspend", "post", "manage"):
        assert not policy.allowed("webhook:alerts", verb, here).ok, verb
    assert not Policy.of(Access(), hooks={"alerts": "slack:T1:C1"}).allowed("webhook:alerts", "ask", here).ok
