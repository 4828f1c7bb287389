"""The section of MCP servers: what is refused, where secrets come from, what serves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hermes_bot.config import known_secrets, read_config, remarks
from hermes_bot.errors import ConfigError
from hermes_bot.mcp.servers import access_of

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "made-" + "up-token"


def read(folder: Path, text: str, **environ: str) -> object:
    (folder / "hermes.toml").write_text(text)
    return read_config(None, environ, cwd=folder)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[mcp.servers.a]\n", "[mcp.servers] a: give it a command or a url, and only one of them"),
        ('[mcp.servers.a]\ncommand = "x"\nurl = "http://h/"\n', "only one of them"),
        ('[mcp.servers.a]\nurl = "http://h/"\nargs = ["x"]\n', "args, env and folder belong to a command"),
        ('[mcp.servers."A B"]\ncommand = "x"\n', "'A B' is no server name"),
        (
            '[mcp.servers.a-b]\ncommand = "x"\n[mcp.servers.a_b]\ncommand = "x"\n',
            "would share HERMES_MCP_A_B_TOKEN",
        ),
        ('[mcp.servers.a]\nurl = "http://u:p@h/"\n', "Put the server's token into HERMES_MCP_<NAME>_TOKEN"),
        ('[mcp.servers.a]\nurl = "http://h/"\ntoken = "x"\n', "set HERMES_MCP_A_TOKEN in the environment"),
        ('[mcp.servers.a]\ncommand = "x"\nenv = ["A=b"]\n', "'A=b' is no variable's name"),
        ('[mcp.servers.a]\ncomand = "x"\n', "[mcp.servers.a] comand: no such key. Did you mean command?"),
        (
            '[mcp.servers.a]\ncommand = "x"\n[mcp.servers.a.risk]\n"x" = "safe"\n',
            "'read', 'write' or 'danger'",
        ),
    ],
)
def test_what_cannot_be_right_is_refused_in_words(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert says in str(caught.value)


def test_a_tool_may_be_called_like_a_secret(tmp_path: Path) -> None:
    read(tmp_path, '[mcp.servers.a]\ncommand = "x"\n[mcp.servers.a.risk]\nget_token = "read"\n')


def test_a_token_comes_from_its_variable_and_from_no_file(tmp_path: Path) -> None:
    text = '[mcp.servers.my-wiki]\nurl = "http://127.0.0.1:1/"\n'
    (tmp_path / "hermes.toml").write_text(text)
    config = read_config(None, {"HERMES_MCP_MY_WIKI_TOKEN": TOKEN}, cwd=tmp_path)
    assert access_of(config, "my-wiki").token == TOKEN
    assert TOKEN in known_secrets(config)
    assert TOKEN not in repr(config)
    assert remarks(config) == ()


def test_a_program_gets_the_variables_it_is_named_and_only_secrets_are_masked(tmp_path: Path) -> None:
    (tmp_path / "hermes.toml").write_text(
        '[mcp.servers.a]\ncommand = "x"\nenv = ["WIKI_KEY", "TZ", "OTHER"]\n'
    )
    config = read_config(None, {"WIKI_KEY": TOKEN, "TZ": "Europe/Berlin", "LEFT": "out"}, cwd=tmp_path)
    access = access_of(config, "a")
    assert access.env == {"WIKI_KEY": TOKEN, "TZ": "Europe/Berlin"}
    assert access.missing == ("OTHER",)
    assert access.section.folder == tmp_path
    assert known_secrets(config) == (TOKEN,)


def test_a_token_for_no_server_is_told_with_the_nearest_that_there_is(tmp_path: Path) -> None:
    (tmp_path / "hermes.toml").write_text('[mcp.servers.files]\nurl = "http://127.0.0.1:1/"\n')
    config = read_config(None, {"HERMES_MCP_FILSE_TOKEN": TOKEN}, cwd=tmp_path)
    [said] = remarks(config)
    assert said.startswith("HERMES_MCP_FILSE_TOKEN is set, but there is no such section below [mcp.servers].")
    assert said.endswith("Did you mean HERMES_MCP_FILES_TOKEN?")
