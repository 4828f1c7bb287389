"""Other programs are started at few doors, always with a list of arguments and never through a shell."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
STARTERS = {
    *("subprocess", "pty", "multiprocessing"),
    *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"),
    *("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"),
    *("execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp", "execlpe", "spawnv", "spawnl"),
}
ALLOWED = {
    "hermes_bot/sandbox/launch.py": "the door: foreign code, behind bubblewrap",
    "hermes_bot/sandbox/room.py": "asks bubblewrap for its version",
    "hermes_bot/sandbox/probe.py": "runs inside the sandbox, and counts how often it may fork there",
    "hermes_bot/mcp/stdio.py": "the MCP servers that the operator named",
    "hermes_bot/tools/processes.py": "our own scripts for pages and databases, so that they can be ended",
    "hermes_bot/tools/search.py": "our own pattern_worker, so that an endless pattern can be ended",
    "hermes_bot/cli/service.py": "asks the interpreter of a unit whether the program is installed there",
}


def starts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.split(".")[0] in STARTERS)
            case ast.ImportFrom(module=module, names=names):
                parts = {name.name for name in names} | {(module or "").split(".")[0]}
                yield from parts & STARTERS
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if _is_starting(value):
                yield from {name} & STARTERS


def _is_starting(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in ("os", "asyncio", "loop")


def test_only_the_doors_start_programs() -> None:
    files = [file for top in ("hermes_bot", "adapters", "skills") for file in (ROOT / top).rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if any(starts(file))}
    assert found == set(ALLOWED)


def test_none_of_them_uses_a_shell() -> None:
    for name in ALLOWED:
        assert "create_subprocess_shell" not in set(starts(ROOT / name))
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            assert not (isinstance(node, ast.keyword) and node.arg == "shell"), name
