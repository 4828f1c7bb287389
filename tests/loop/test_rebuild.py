"""A prompt of the past is made again to the byte from the rows before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import act, finish, say
from world import Bench, request, scripted

from hermes_bot.errors import StoreError
from hermes_bot.loop.rebuild import rebuild
from hermes_bot.store import journal

if TYPE_CHECKING:
    from pathlib import Path

    from endpoint import Answer
    from world import Running


async def test_every_prompt_of_a_run_is_rebuilt_to_the_byte_after_restart_question_and_continue(
    tmp_path: Path,
) -> None:
    bench, sent = Bench(), []
    ask = act("request_info", question="Which?", options=["a", "b"])
    script = [act("echo", word="字 \x00 é"), ask]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        await bot.talk().say("go \ud83d", request=request(profile="chat"))
        await bot.talk().heard()
        sent += bot.endpoint.bodies
    script = [act("echo", word="b" * 80), act("echo", word="c" * 70), say("}{"), say("}{")]
    async with scripted(
        tmp_path, script, otherwise=finish("done", evidence=["echo"]), tools=bench.tools()
    ) as bot:
        await bot.talk().say("a")
        report = await bot.talk().heard()
        await bot.talk().press(report.buttons[0].press.question, 0)
        await bot.talk().heard()
        await bot.quiet()
        sent += bot.endpoint.bodies
        made = await rebuilt(bot)
    assert len(made) == 7
    check(made, sent)


async def rebuilt(bot: Running) -> list[bytes]:
    """Return the prompts of the last run, made again from its rows."""
    rows = await bot.rows((await bot.runs())[-1].id)
    made = []
    for index, row in enumerate(rows):
        if row.phase != "observe":
            continue
        prefix = await bot.app.db.read(lambda db, it=row: journal.prefix(db, it.data["prefix"]))  # type: ignore[misc]
        assert prefix
        made.append(rebuild(rows, row.seq, prefix))
        if problem := rows[index + 1].data.get("regenerated"):
            made.append(rebuild(rows, row.seq, prefix, problem=problem))
    return made


def check(made: list[bytes], sent: list[bytes]) -> None:
    for messages, body in zip(made, sent, strict=True):
        assert b'"messages":' + messages + b"," in body


async def test_prompts_with_intake_plan_and_look_back_are_rebuilt_too(tmp_path: Path) -> None:
    def looking(number: int, **beside: object) -> Answer:
        action = {"name": "echo", "args": {"word": f"{number}" * number * 9}}
        return say({"thought": "The log shows it.", **beside, "action": action})

    first = {"goal": {"objective": "Find it.", "constraints": ["soon"]}, "plan": ["a b", "c d", "e f", "g h"]}
    pivot = {"verdict": "pivot", "reason": "Round 3 shows that the log is empty."}
    script = [
        looking(1, **first),
        looking(2, plan=["another", "one"]),
        *(looking(number) for number in range(3, 5)),
        looking(5, reflection=pivot, plan=["third"]),
        *(looking(number) for number in range(6, 10)),
    ]
    otherwise = finish("done", evidence=["echo"])
    async with scripted(tmp_path, script, otherwise=otherwise, tools=Bench().tools()) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        made = await rebuilt(bot)
        assert len(made) == 10
        check(made, bot.endpoint.bodies)


async def test_a_row_that_refers_to_no_prompt_is_refused(tmp_path: Path) -> None:
    async with scripted(tmp_path, [finish("done")]) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        rows = await bot.rows((await bot.runs())[0].id)
    with pytest.raises(StoreError, match="refers to no prompt"):
        rebuild(rows, rows[0].seq, "")
    observed = next(row for row in rows if row.phase == "observe")
    with pytest.raises(StoreError, match="another version of the program"):
        rebuild(rows, observed.seq, "another prefix")
