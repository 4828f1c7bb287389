from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tools.toolroom import call, context

from hermes_bot.plugins import ADAPTERS, TOOLS, demo_dir, discover, skills_dir
from hermes_bot.tools.plugged import plugged_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_bot.tools.declare import Tool

    Install = Callable[[str, str, str], None]

SOUND = '''
from hermes_bot.tools.declare import tool

@tool(example={"x": 2})
async def double(x: int) -> int:
    """Double a number (one)."""
    return 2 * x

def several():
    return [double, double]
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution on the path, as an installer leaves it: a module and its metadata."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def put(module: str, source: str, entry_points: str) -> None:
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)

    yield put
    for name in set(sys.modules) - before:
        if name.startswith("thrown_"):
            del sys.modules[name]


def thrown() -> tuple[list[Tool], list[str]]:
    """Return the tools of the thrown distributions, and what was broken: others may be installed beside."""
    found = plugged_tools()
    broken = [reason for reason in found.broken if reason.startswith("thrown_")]
    return [one for one in found.tools if one.name == "double"], broken


async def test_an_installed_tool_is_found_and_works(install: Install, tmp_path: Path) -> None:
    install("thrown_sound", SOUND, f"[{TOOLS}]\none = thrown_sound:double\nmany = thrown_sound:several\n")
    tools, broken = thrown()
    assert [one.name for one in tools] == ["double", "double", "double"]
    assert broken == []
    came = await call(tools[0], {"x": "4"}, context(tmp_path))
    assert came.data == 8


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise RuntimeError('no licence')", "cannot be loaded (RuntimeError: no licence)"),
        ("raise SystemExit(3)", "cannot be loaded (SystemExit: 3)"),
        ("def other(): ...", "cannot be loaded (AttributeError"),
        ("import nothing_of_that_name", "cannot be loaded (ModuleNotFoundError"),
        ("def made(): raise ValueError('no key')", "cannot be used (ValueError: no key)"),
        ("made = 7", "cannot be used (TypeError: it gives a int where a Tool is due"),
        ("def made(): return ['x']", "cannot be used (TypeError: it gives a str where a Tool is due"),
    ],
)
def test_a_broken_plugin_costs_only_itself_and_is_named(source: str, said: str, install: Install) -> None:
    install("thrown_sound", SOUND, f"[{TOOLS}]\none = thrown_sound:double\n")
    install("thrown_broken", source, f"[{TOOLS}]\nbad = thrown_broken:made\n")
    tools, [reason] = thrown()
    assert [one.name for one in tools] == ["double"]
    assert reason.startswith("thrown_broken: ")
    assert said in reason
    assert reason.endswith("Update or uninstall thrown_broken.")


def test_groups_are_kept_apart(install: Install) -> None:
    install("thrown_adapter", "class A: ...", f"[{ADAPTERS}]\nzulip = thrown_adapter:A\n")
    assert "zulip" in [one.name for one in discover(ADAPTERS).plugins]
    assert "zulip" not in [one.name for one in discover(TOOLS).plugins]


def test_in_a_checkout_skills_and_demo_lie_at_its_root() -> None:
    root = Path(__file__).parents[1]
    assert skills_dir() == root / "skills"
    assert demo_dir() == root / "data" / "demo"
