"""Servers at an address: the operator's token and no other's, no redirect elsewhere, answers in bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcpserver
from clock import JumpClock
from endpoint import act, finish
from pydantic import SecretStr
from serving import folder_for, observation, serving

from hermes_bot.config import McpServer, Secrets

if TYPE_CHECKING:
    from pathlib import Path

READ = {"risk": {"*": "read"}}


async def test_a_server_at_an_address_is_used_with_its_token(tmp_path: Path) -> None:
    folder = folder_for(tmp_path)
    mcpserver.offer(folder, [mcpserver.tool("echo")])
    token = "made-" + "up-token"
    secrets = Secrets(mcp={"HERMES_MCP_WIKI_TOKEN": SecretStr(token)})
    script = [act("wiki.echo", text="hello"), finish("Done.", evidence=["round 1"])]
    async with mcpserver.web(folder, token=token) as url:
        section = McpServer.model_validate({"url": url, **READ})
        async with serving(tmp_path, script, {"wiki": section}, secrets=secrets) as it:
            talk = it.talk()
            await talk.say("echo hello")
            assert (await talk.heard()).text == "Done."
    assert len(mcpserver.calls(folder)) == 1


async def test_a_server_that_refuses_us_is_down_and_says_so(tmp_path: Path) -> None:
    folder = folder_for(tmp_path)
    mcpserver.offer(folder, [mcpserver.tool("echo")])
    async with (
        mcpserver.web(folder, token="another") as url,  # noqa: S106 - made up
        serving(tmp_path, [], {"wiki": McpServer(url=url)}) as it,
    ):
        await it.app.mcp.ready(10)
        [standing] = it.app.mcp.health()
    assert standing.state == "down"
    assert "error" in standing.why


async def test_a_redirect_to_another_origin_is_not_followed(tmp_path: Path) -> None:
    there, here = folder_for(tmp_path, "there"), folder_for(tmp_path, "here")
    for folder in (there, here):
        mcpserver.offer(folder, [mcpserver.tool("echo")])
    async with (
        mcpserver.web(there) as elsewhere,
        mcpserver.web(here, redirect=elsewhere) as url,
        serving(tmp_path, [], {"wiki": McpServer(url=url)}) as it,
    ):
        await it.app.mcp.ready(10)
        [standing] = it.app.mcp.health()
    assert standing.state == "down"
    assert "not followed" in standing.why


async def test_an_answer_that_is_too_long_fails_its_call_alone(tmp_path: Path) -> None:
    folder = folder_for(tmp_path)
    mcpserver.offer(folder, [mcpserver.tool("big"), mcpserver.tool("echo")])
    script = [act("wiki.big"), act("wiki.echo", text="b"), finish("Done.", evidence=["round 2"])]
    async with mcpserver.web(folder) as url:
        section = McpServer.model_validate({"url": url, **READ})
        async with serving(tmp_path, script, {"wiki": section}) as it:
            talk = it.talk()
            await talk.say("do it")
            await talk.heard()
            assert "more than 8,388,608 bytes" in await observation(it, 1)
            assert "status ok" in await observation(it, 2)


async def test_a_server_that_goes_is_noticed_by_a_call_and_is_back_without_a_restart(tmp_path: Path) -> None:
    folder = folder_for(tmp_path)
    mcpserver.offer(folder, [mcpserver.tool("echo")])
    script = [act("wiki.echo", text="a"), finish("Gone.")]
    async with mcpserver.web(folder) as url:
        section = McpServer.model_validate({"url": url, **READ})
        async with serving(tmp_path, script, {"wiki": section}) as it:
            await it.app.mcp.ready(10)
            await mcpserver.close(url)
            talk = it.talk()
            await talk.say("echo a")
            await talk.heard()
            assert "wiki: ConnectError" in await observation(it, 1)
            assert isinstance(it.clock, JumpClock)
            await it.clock.pass_until(lambda: it.app.mcp.health()[0].state == "down")
            await mcpserver.reopen(url)
            await it.clock.pass_until(lambda: it.app.mcp.health()[0].state == "on")
