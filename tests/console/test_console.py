"""The terminal as a platform, over a real admin socket."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from console.desk import Desk, Paper

from hermes_bot.admin import AdminError
from hermes_bot.alongside import Alongside
from hermes_bot.messages import Press, Request, ThreadKey
from hermes_bot.ports import Adapter, Operated
from hermes_console import ConsoleAdapter
from hermes_console.conversation import Conversation
from hermes_console.plain import converse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@contextlib.asynccontextmanager
async def conversation(
    desk: Desk, folder: Path, paper: Paper, thread: str = "main"
) -> AsyncIterator[Conversation]:
    async with desk.open(folder) as client:
        talk = Conversation(client, paper, thread=thread)
        async with Alongside(talk.follow()):
            await talk.attached.wait()
            yield talk


def test_it_is_an_adapter_that_is_operated() -> None:
    adapter: Adapter = ConsoleAdapter()
    assert isinstance(adapter, Operated)
    assert adapter.name == "console"


async def test_what_is_said_arrives_as_an_addressed_whole_message(tmp_path: Path) -> None:
    desk = Desk()
    async with desk.open(tmp_path) as client:
        request = {"skill": "s", "params": {"a": "b"}}
        said = {
            "thread": "t1",
            "text": "hi",
            "event_id": "e1",
            "user": "u1",
            "name": "Someone",
            "request": request,
        }
        assert await client.call("console.say", said) == {"reply": None}
        got = await desk.heard.get()
    assert got.thread == ThreadKey("console", "local", "terminal", "t1")
    assert (got.event_id, got.user, got.user_name, got.text) == ("e1", "console:local:u1", "Someone", "hi")
    assert got.addressed
    assert got.complete
    assert got.request == Request("s", {"a": "b"})


async def test_an_immediate_reply_comes_back_with_what_was_said(tmp_path: Path) -> None:
    desk = Desk()
    desk.replies["status"] = "Nothing is running."
    async with desk.open(tmp_path) as client:
        answer = await client.call("console.say", {"text": "status", "event_id": "e"})
    assert answer == {"reply": "Nothing is running."}


@pytest.mark.parametrize(
    ("op", "args", "said"),
    [
        ("console.say", {"event_id": "e"}, "console.say: text: Field required"),
        ("console.say", {"text": 7, "event_id": "e"}, "console.say: text: Input should be a valid string"),
        ("console.press", {"question": "q", "option": -1}, "console.press: option"),
        ("console.attach", {"thread": ""}, "console.attach: thread"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused(
    tmp_path: Path, op: str, args: dict[str, object], said: str
) -> None:
    async with Desk().open(tmp_path) as client:
        with pytest.raises(AdminError, match=said):
            await client.call(op, args)


async def test_a_post_shows_in_its_thread_alone_and_needs_nobody(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper):
        await desk.post("elsewhere", thread="other")
        posted = await desk.post("here")
        assert (await paper.lines.get()).text == "here"
        assert await desk.adapter.find(posted) == posted.key
    assert paper.lines.empty()


async def test_a_post_is_shown_once_though_history_holds_it_too(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    desk.write("why?", name="you")
    first = await desk.post("nobody is attached yet")
    async with conversation(desk, tmp_path, paper):
        await desk.adapter.post(first)  # sent once more after a crash
        await desk.post("then this")
        shown = [(await paper.lines.get()).text for _ in range(3)]
    assert shown == ["why?", "nobody is attached yet", "then this"]
    assert paper.lines.empty()


async def test_an_edit_shows_the_post_in_its_new_form(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper):
        posted = await desk.post("one")
        await desk.adapter.edit(posted.key, posted)
        assert [(await paper.lines.get()).text for _ in range(2)] == ["one", "one"]


async def test_a_number_presses_the_choice_and_only_while_it_is_open(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper) as talk:
        await desk.post("Since when?", "last hour", "since yesterday", kind="question")
        assert (await paper.lines.get()).choices == ("last hour", "since yesterday")
        await talk.enter("3")
        assert (await desk.heard.get()).text == "3"  # no such choice: it is text
        await desk.post("Since when?", "last hour", "since yesterday", kind="question")
        await paper.lines.get()
        await talk.enter(" 2 ")
        pressed = await desk.heard.get()
        assert (pressed.kind, pressed.press) == ("press", Press("q7", 1))
        await talk.enter("2")
        assert (await desk.heard.get()).text == "2"


async def test_an_older_post_that_is_edited_leaves_the_open_questions_choices(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper) as talk:
        old = await desk.post("Since when?", "last hour", kind="question")
        open_one = await desk.post("Which service?", "checkout", kind="question")
        await desk.adapter.edit(old.key, replace(old, text="Since when? last hour", buttons=()))
        [await paper.lines.get() for _ in range(3)]
        await talk.enter("1")
        assert (await desk.heard.get()).kind == "press"
        await desk.adapter.edit(open_one.key, replace(open_one, text="Which service? checkout", buttons=()))
        await paper.lines.get()
        await talk.enter("1")
        assert (await desk.heard.get()).kind == "message"


async def test_a_question_stays_choosable_after_a_reply_that_changed_nothing(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    desk.replies["/help"] = "help"
    async with conversation(desk, tmp_path, paper) as talk:
        await desk.post("Since when?", "last hour", kind="question")
        await paper.lines.get()
        await talk.enter("/help")
        await talk.enter("1")
        heard = [await desk.heard.get() for _ in range(2)]
    assert [one.kind for one in heard] == ["message", "press"]
    assert "/thread   list the threads" in paper.notes[0]


async def test_an_open_question_shows_its_choices_again_after_a_restart(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    desk.write("why?", name="you")
    await desk.post("Since when?", kind="question", key="question/q7")
    desk.question = {"id": "q7", "text": "Since when?", "options": ["last hour", "today"]}
    async with conversation(desk, tmp_path, paper) as talk:
        shown = [await paper.lines.get() for _ in range(2)]
        assert [line.choices for line in shown] == [(), ("last hour", "today")]
        await talk.enter("2")
        assert (await desk.heard.get()).press == Press("q7", 1)


async def test_the_status_line_follows_the_run_and_greets_who_attaches_late(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    await desk.adapter.show_status(ThreadKey("console", "local", "terminal", "main"), "reading logs", "r1")
    async with conversation(desk, tmp_path, paper) as talk:
        assert await paper.statuses.get() == "reading logs"
        assert talk.status == "reading logs"
        await desk.adapter.show_status(ThreadKey("console", "local", "terminal", "main"), "", "r1")
        assert await paper.statuses.get() == ""


async def test_threads_are_listed_and_switched(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper) as talk:
        await talk.enter("/thread")
        assert paper.notes == ["* main  2026-11-30 20:00"]
        await talk.enter("/thread incident 7")
        await talk.enter("/thread")
        assert paper.notes[1] == "  main  2026-11-30 20:00\n* incident 7  new"
        await desk.post("in the new one", thread="incident 7")
        assert (await paper.lines.get()).text == "in the new one"
        await talk.enter("hello")
        assert (await desk.heard.get()).thread.thread == "incident 7"
        assert not await talk.enter("/quit")


async def test_what_would_move_a_cursor_is_not_shown(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper):
        await desk.post("a\x1b[2Jb\x07\x9bc\u202e\u2066\td\n")
        assert (await paper.lines.get()).text == "a[2Jbc\td\n"


async def test_a_terminal_that_falls_behind_comes_back_through_the_history(tmp_path: Path) -> None:
    desk, paper = Desk(), Paper()
    async with conversation(desk, tmp_path, paper):
        for number in range(3_000):  # nobody reads meanwhile: nothing here lets the terminal run
            await desk.post(f"post {number}")
        shown = {(await paper.lines.get()).text for _ in range(3_000)}
    assert len(shown) == 3_000
    assert paper.lines.empty()


async def test_without_a_terminal_each_line_waits_for_the_answer_before(tmp_path: Path) -> None:
    desk, out = Desk(), io.StringIO()
    desk.replies["status"] = "Nothing is running."
    read, write = os.pipe()
    os.write(write, b"status\nwhy?\nlast hour")
    os.close(write)
    desk.write("an old question", name="you")
    desk.write("an old answer", key="old", from_bot=True)
    desk.write("said before the crash", name="you")
    desk.write("answered while nobody looked", key="new", from_bot=True)
    async with desk.open(tmp_path) as client, asyncio.TaskGroup() as group:
        group.create_task(converse(client, out, read, thread="main", bot="hermes"))
        assert (await desk.heard.get()).text == "status"
        assert (await desk.heard.get()).text == "why?"
        await desk.post("one moment", kind="notice")
        assert desk.heard.empty()
        asked = await desk.post("Since when?", "last hour", kind="question")
        assert (await desk.heard.get()).text == "last hour"
        await desk.adapter.edit(asked.key, replace(asked, text="Since when? last hour", buttons=()))
        await desk.post("Because.")
    os.close(read)
    said = [
        "answered while nobody looked",
        "Nothing is running.",
        "one moment",
        "Since when?\n1. last hour",
        "Since when? last hour",
        "Because.",
    ]
    assert out.getvalue() == "".join(f"{text}\n\n" for text in said)
