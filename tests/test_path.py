"""One message through the whole path: inbox, router, lane, run, outbox."""

from __future__ import annotations

from pathlib import Path

from endpoint import Endpoint, act, finish
from world import running
from hermes_bot.ports import ToolContext
from hermes_bot.tools.declare import Tool, tool


def echo_tool() -> Tool:
    @tool(risk="read", example={"word": "a"})
    async def echo(word: str, ctx: ToolContext) -> str:
        """Return the word it was given."""
        return word

    return echo


async def test_a_message_is_answered_in_its_thread(tmp_path: Path) -> None:
    async with Endpoint(
        [act("echo", word="AMBER"), finish("It says AMBER.", evidence=["round 1"])]
    ) as endpoint:
        async with running(tmp_path, endpoint=endpoint.url, tools=[echo_tool()]) as bot:
            talk = bot.talk()
            await talk.say("what does the echo say?")
            answer = await talk.heard()
    assert answer.text == "It says AMBER."
    assert answer.kind == "answer"
    assert "AMBER" in endpoint.requests[1]["messages"][1]["content"]
