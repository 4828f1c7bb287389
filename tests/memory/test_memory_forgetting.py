"""What is forgotten is gone: from searches, later prompts, rows that quoted it, and the files' bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import act, finish, say
from hypothesis import given
from hypothesis import strategies as st
from world import Running, running, scripted

from hermes_bot.config import Access
from hermes_bot.loop.rebuild import rebuild
from hermes_bot.memory.hiding import INSTEAD, hider
from hermes_bot.memory.words import words_of
from hermes_bot.messages import ThreadKey
from hermes_bot.store import care, journal

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

WORD = "QUARTZAMBER"


def traces(folder: Path, word: str) -> list[str]:
    """Return the files of the state folder that hold a word, in any case, somewhere in their bytes."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [file.name for file in files if word.lower().encode() in file.read_bytes().lower()]


async def settled(bot: Running) -> None:
    """Let the second pass happen, which comes once all that was said about it is over and posted."""
    await bot.quiet()
    await bot.pass_time(60)
    await bot.until(lambda: True)


async def rows_that_say(bot: Running, word: str) -> list[str]:
    def look(db: sqlite3.Connection) -> list[str]:
        return [line for line in db.iterdump() if word.lower() in line.lower()]

    return await bot.app.db.read(look)


async def test_forgetting_leaves_no_byte_of_it(tmp_path: Path) -> None:
    """B-67: remember, forget, ask again, look into the tables and the file."""
    script = [
        act("remember", text=f"The code word is {WORD}."),
        finish(f"Noted: {WORD}.", evidence=["round 1"]),
        act("recall", query="code word"),
        finish(f"It is {WORD}.", evidence=["round 1"]),
        act("forget", what=WORD),
        finish(f"I forgot {WORD}.", evidence=["round 1"]),
    ]
    async with scripted(tmp_path, script, otherwise=finish("I do not know.")) as bot:
        talk = bot.talk()
        for said in (
            f"Remember: the code word is {WORD}",
            "What is the code word?",
            f"Please drop {WORD}",
        ):
            await talk.say(said)
            await talk.heard()
        await bot.app.db.read(lambda db: care.backup(db, tmp_path / "backup.db"))
        await settled(bot)
        assert await rows_that_say(bot, WORD) == []
        asked = len(bot.prompts)
        await talk.say("What is the code word?")
        await talk.heard()
        assert WORD not in "".join(bot.prompts[asked:])
        assert "(forgotten)" in bot.prompts[-1]  # what was said in the thread says that something is missing
        assert traces(tmp_path, WORD) == []
    assert traces(tmp_path, WORD) == []


async def test_the_command_says_what_went_and_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        await talk.say(f"remember that our code word is {WORD}")
        assert WORD in (await talk.heard()).text
        reply = await talk.say(f"/forget {WORD}")
        assert reply
        assert reply.text.startswith(f"Forgotten: “our code word is {WORD}” (note 1, for this channel).")
        assert "rows that quoted it" in reply.text
        reply = await talk.say("/memory")
        assert reply
        assert WORD not in reply.text
        await settled(bot)
        assert await rows_that_say(bot, WORD) == []
    assert traces(tmp_path, WORD) == []


async def test_the_other_notes_and_what_else_was_said_stay(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        for said in ("remember that our code word is AMBER", "remember that our region is EU"):
            await talk.say(said)
            await talk.heard()
        await talk.say("forget 1")
        await settled(bot)
        reply = await talk.say("/memory")
        assert reply
        assert "our region is EU" in reply.text
        lines = await rows_that_say(bot, "our region is EU")
        assert any('INTO "messages"' in line for line in lines)


async def test_a_prompt_that_showed_it_is_made_again_without_it(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("done")) as bot:
        await bot.talk("1").say(f"Remember that our code word is {WORD}")
        await bot.talk("1").heard()
        await bot.talk("2").say("What is the code word?")
        await bot.talk("2").heard()
        assert WORD in bot.prompts[-1]
        await bot.talk("1").say("forget 1")
        *_, run = await bot.runs()
        rows = await bot.rows(run.id)
        [observe] = [row for row in rows if row.phase == "observe"]
        prefix = await bot.app.db.read(lambda db: journal.prefix(db, observe.data["prefix"]))
        assert prefix is not None
        again = rebuild(rows, observe.seq, prefix).decode()
        assert WORD not in again
        assert "(forgotten)" in again
        assert "What is the code word?" in again


async def test_people_take_away_only_what_is_theirs(tmp_path: Path) -> None:
    access = Access(channels=("world:T1:*",), operators=("world:T1:op",))
    async with running(tmp_path, access=access) as bot:
        talk = bot.talk()
        for said in ("remember for everyone that deploys are on Tuesday", "remember that my desk is 7"):
            await talk.say(said)
            await talk.heard()
        for number, user, begins in (
            (1, "u1", "Note 1 is not yours to take away. An operator can."),
            (2, "u2", "Nothing is kept here under that."),
            (1, "op", "Forgotten: “deploys are on Tuesday”"),
            (2, "op", "Nothing is kept here under that."),
            (2, "u1", "Forgotten: “my desk is 7”"),
            (2, "u1", "Nothing is kept here under that."),
        ):
            reply = await talk.say(f"/forget {number}", user=user)
            assert reply
            assert reply.text.startswith(begins), (number, user)


async def test_words_that_mean_several_notes_take_none_away(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        for said in ("remember that our region is EU", "remember that our spare region is US"):
            await talk.say(said)
            await talk.heard()
        reply = await talk.say("/forget region")
        assert reply
        assert reply.text.startswith("2 notes are meant. Say which by its number:")
        assert (await talk.say("/memory") or reply).text.count("\n- `") == 2


async def test_a_crash_before_the_second_pass_forgets_all_the_same(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        await bot.talk().say(f"remember that our code word is {WORD}")
        await bot.talk().heard()
        await bot.talk().say(f"/forget {WORD}")
    async with running(tmp_path) as bot:
        await settled(bot)
        assert await rows_that_say(bot, WORD) == []
    assert traces(tmp_path, WORD) == []


async def test_a_task_that_waits_keeps_what_it_decided_until_it_is_over(tmp_path: Path) -> None:
    """By what a run decided a tool is known not to run twice; all else of it is without the note at once."""
    args = {"question": f"Is {WORD} still the code word?", "options": ["yes", "no"]}
    asks = {"thought": f"The note says {WORD}.", "action": {"name": "request_info", "args": args}}
    async with scripted(tmp_path, [finish("Noted."), say(asks)], otherwise=finish("Good.")) as bot:
        await bot.talk("1").say(f"Remember that our code word is {WORD}")
        await bot.talk("1").heard()
        await bot.talk("2").say("Check the code word")
        await bot.talk("2").heard()
        await bot.talk("1").say(f"/forget {WORD}")
        await settled(bot)
        lines = await rows_that_say(bot, WORD)
        assert {line.split('"')[1] for line in lines} == {"journal", "forgetting"}
        await bot.talk("2").say("yes")
        assert (await bot.talk("2").heard()).text == "Good."
        await settled(bot)
        assert await rows_that_say(bot, WORD) == []


async def test_a_note_kept_again_after_it_was_forgotten_has_another_number(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        for said in ("remember that our region is EU", "/forget 1", "remember that our region is EU"):
            await bot.talk().say(said)
            await bot.quiet()
        reply = await bot.talk().say("/memory")
        assert reply
        assert "`2` our region is EU" in reply.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Remember that our region is EU", "Remember that our (forgotten)"),
        ("Noted. The region here is EU! Anything else?", "Noted. (forgotten) Anything else?"),
        ("the region of checkout is slow", "the region of checkout is slow"),
        ("REGION   is\nEU", "(forgotten)"),
        ("The EU is large.", "The (forgotten) is large."),
        ("ok", "ok"),
        ("", ""),
    ],
)
def test_a_sentence_that_says_the_same_goes_and_the_others_stay(text: str, shown: str) -> None:
    assert hider(["Region is EU."])(text) == shown


@pytest.mark.parametrize("text", ["a-" * 500, "A" * 1_000, "is " * 333, "1." * 500, ". " * 500])
def test_no_note_takes_long_to_hide(text: str) -> None:
    assert INSTEAD in hider([text])(f"{text} {text}" * 50) or not words_of(text)


@pytest.mark.parametrize("text", ["!!!", "?", "-", " . ", ""])
def test_a_note_of_marks_alone_hides_nothing(text: str) -> None:
    said = "Is it up? Yes! A-B. - and more"
    assert hider([text])(said) == said


@given(st.text(max_size=40), st.text(max_size=80))
def test_no_text_breaks_the_hiding_and_what_is_quoted_goes(note: str, said: str) -> None:
    hide = hider([note])
    hide(said)
    if words_of(note):
        assert words_of(hide(note)) == "forgotten"


def test_what_programs_read_in_a_row_is_never_hidden() -> None:
    hide = hider(["the world is finish"])
    assert hide("finish") == "finish"
    assert ThreadKey.parse(hide("world/T1/C1/1")) == ThreadKey("world", "T1", "C1", "1")


async def test_a_note_of_a_word_that_rows_are_made_of_breaks_no_run(tmp_path: Path) -> None:
    """The texts of rows change, not the words that programs read in them."""
    async with scripted(tmp_path, otherwise=finish("call me")) as bot:
        await bot.talk().say("Remember: finish call continue ok text world task")
        await bot.talk().heard()
        await bot.talk().say("/forget 1")
        await settled(bot)
        [run] = await bot.runs()
        assert (await bot.state(run.id)).status == "finished"
        assert (await bot.app.runs.view(run.id)).rounds
