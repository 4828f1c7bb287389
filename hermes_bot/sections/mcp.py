"""Knows ``[mcp]``: servers of tools, and the variables that hold their tokens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from hermes_bot.keys import read_address
from hermes_bot.sections.section import Section

_SERVER_NAME = re.compile(r"(?=.{1,32}\Z)[a-z0-9]+(?:[_-][a-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mcp_token_variable(server: str) -> str:
    """Return the variable that holds the bearer token of an MCP server."""
    return f"HERMES_MCP_{server.upper().replace('-', '_')}_TOKEN"


def _server_names(servers: dict[str, McpServer]) -> dict[str, McpServer]:
    variables: dict[str, str] = {}
    for name in servers:
        if not _SERVER_NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no server name. Use up to 32 of a-z and 0-9, with single - or _ between them"
            )
        twin = variables.setdefault(mcp_token_variable(name), name)
        if twin != name:
            raise ValueError(f"{twin!r} and {name!r} would share {mcp_token_variable(name)}. Rename one")
    return servers


def _server_address(url: str) -> str:
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise ValueError("holds a password. Put the server's token into HERMES_MCP_<NAME>_TOKEN")
    return read_address(url) if url else url


def _variable_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(
                f"{name[:40]!r} is no variable's name. List names; values stay in the environment"
            )
    return names


class McpServer(Section):
    """``[mcp.servers.NAME]``: one MCP server: a program that the bot starts, or an address.

    Attributes:
        command: the program, found in ``PATH``; it speaks MCP over its standard input and output.
        env: names of variables that the program gets; it sees no other of the bot's.
        folder: where the program starts; the configuration file's folder by default.
        url: where the server speaks streamable HTTP; loopback and internal addresses are fine.
        category: a word for people and for the selection ("wiki", "tickets").
        risk: the risk of tools by name or glob, the first that fits; others are ``danger``.
        trust_annotations: whether the server's own hints may lower a tool's risk.
        private: its answers are the team's, and not for everybody.
        outside: people or programs outside the team write what it answers.
        tools: names or globs of the tools that are used at all; empty: all.
    """

    command: str = ""
    args: tuple[str, ...] = ()
    env: Annotated[tuple[str, ...], AfterValidator(_variable_names)] = ()
    folder: Path | None = None
    url: Annotated[str, AfterValidator(_server_address)] = ""
    connect_seconds: float = Field(default=20.0, gt=0)
    call_seconds: float = Field(default=60.0, gt=0)
    category: str = ""
    risk: dict[str, Literal["read", "write", "danger"]] = Field(default_factory=dict)
    trust_annotations: bool = False
    private: bool = False
    outside: bool = True
    tools: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give it a command or a url, and only one of them")
        if self.url and (self.args or self.env or self.folder):
            raise ValueError("args, env and folder belong to a command; this server has a url")
        return self


class Mcp(Section):
    """``[mcp]``: servers of tools, and how many of their tools a prompt shows.

    Attributes:
        shown: the best tools for a goal, beside those that a profile or a skill names.
        wait_seconds: how long the first tasks after a start wait for servers that are still starting.
    """

    shown: int = Field(default=12, ge=0, le=64)
    wait_seconds: float = Field(default=3.0, ge=0)
    servers: Annotated[dict[str, McpServer], AfterValidator(_server_names)] = Field(default_factory=dict)
