"""Code in the sandbox, through ``run_python`` itself: what it must not reach, and what it can do."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act
from sharedcases import SHARED
from tools.sandboxground import planted
from tools.toolroom import call, context, ready
from world import scripted

from hermes_bot.tools.files import file_tools
from hermes_bot.tools.python import python_tools
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.sandboxground import Ground

    from hermes_bot.messages import Result

CASES = SHARED / "cases" / "security" / "sandbox.json"
BARE = (
    *("daemon-file", "daemon-file-by-link", "environment-of-others", "signal"),
    *("tcp", "udp", "unix-socket", "abstract-socket", "root-listing"),
)
IS_ROOT = os.geteuid() == 0
GOT = re.compile("^GOT", re.MULTILINE)
NUMBER = re.compile(r"^N (\d+)", re.MULTILINE)


def cases() -> list[Any]:
    if not CASES.is_file():
        return [pytest.param({}, id="absent")]
    held = json.loads(CASES.read_text())
    return [pytest.param(case, id=case["id"]) for case in held["cases"] + held["more"]]


@pytest.fixture(scope="module", params=["as_it_is", "ordinary"])
def world(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """A world for the cases as one kind of user; a superuser begins the sandbox as an ordinary one, too."""
    if request.param == "ordinary" and not IS_ROOT:
        pytest.skip("this user is an ordinary one already")
    with planted(as_somebody=request.param == "ordinary") as ground:
        yield ground


@pytest.fixture
async def ground(world: Ground) -> Ground:
    world.seconds = 20.0
    world.sandboxes.clear()
    if why := await world.sandbox.why_off():
        pytest.skip(f"no sandbox on this host: {why}")
    return world


def output(came: Result) -> str:
    assert isinstance(came.data, dict), came
    return str(came.data["output"])


def fault(came: Result) -> str:
    assert came.error is not None, came
    return came.error.code


def program(case: dict[str, Any]) -> str:
    """Return the case's code as Python."""
    code: str = case["code"]
    return code if case["lang"] == "python" else f"import os\nos.execvp('sh', ['sh', '-c', {code!r}])"


@pytest.mark.shared
@pytest.mark.parametrize("case", cases())
async def test_the_sandbox_keeps_the_promise_of(case: dict[str, Any], ground: Ground) -> None:
    if case.get("profile") == "strict" and not ground.host.has_filter:
        pytest.skip("libseccomp and its binding are not there")
    ground.seconds = 3.0 if case.get("judge") == "seconds until the result" else 20.0
    assert await ground.sandbox.why_off() == ""
    began = time.monotonic()
    came = await ground.run(program(case))
    seconds = time.monotonic() - began
    if case.get("run_again"):
        await ground.run("print('again')")
    judged(case, came, ground, seconds)


def judged(case: dict[str, Any], came: Result, ground: Ground, seconds: float) -> None:
    if "within_s" in case:
        assert seconds <= case["within_s"]
    match case["expect"], case.get("judge", ""):
        case "works", _:
            assert came.is_ok, came
            assert GOT.search(output(came)), came
        case "refused", "":
            assert not GOT.search(output(came)), came
            assert fault(came) not in ("sandbox_off", "sandbox_failed") if came.error else True
        case "refused", "no file named probe-{token} on the host":
            assert ground.leaks() == []
        case "refused", "2 s after the end no process with 300.{token} on the host":
            assert ground.survivors(f"300.{ground.words['token']}") == []
            assert "started" in output(came)
        case "refused", "after a second run {outside_dir} is still empty":
            assert list((ground.folder / "outside").iterdir()) == []
        case "capped", "captured bytes":
            assert came.length <= case["max"]
            assert fault(came) == "output_limit"
        case "capped", "seconds until the result":
            assert seconds <= case["max"]
            assert fault(came) == "time_limit"
        case "capped", "":
            number = NUMBER.search(output(came))
            assert came.error if number is None else int(number[1]) <= case["max"], came
        case unknown:
            pytest.fail(f"nobody knows how to judge {unknown}")


@pytest.mark.shared
def test_without_walls_the_same_code_gets_what_it_wants(world: Ground) -> None:
    """Run the list bare: a check that cannot fail is worth nothing."""
    all_cases = {one.values[0]["id"]: one.values[0] for one in cases()}
    for name in BARE:
        done = subprocess.run(  # noqa: S603 - the test's own interpreter
            [sys.executable, "-c", world.filled(all_cases[name]["code"])],
            capture_output=True,
            text=True,
            check=False,
            cwd=world.workspace,
        )
        (world.workspace / "way").unlink(missing_ok=True)
        assert GOT.search(done.stdout), (name, done.stderr)


NO_WAY = {
    "the host's users": "print('GOT', open('/etc/passwd').read())",
    "our modules": "import hermes_bot.config; print('GOT')",
    "the memory of the first process": "open('/proc/1/mem', 'rb').read(1); print('GOT')",
    "a program in nameless memory": "import os; fd = os.memfd_create('x'); print('GOT')",
    "a namespace by clone3": (
        "import ctypes, os\nc = ctypes.CDLL(None)\nargs = (ctypes.c_uint64 * 11)(0x10000000)\n"
        "r = c.syscall(435, args, 88)\nif r == 0: os._exit(0)\nif r > 0: print('GOT')"
    ),
    "a namespace by clone": (
        "import ctypes, os, platform\nc = ctypes.CDLL(None, use_errno=True)\n"
        "n = 220 if platform.machine() == 'aarch64' else 56\nr = c.syscall(n, 0x10000011, 0, 0, 0, 0)\n"
        "if r == 0: os._exit(0)\nif r > 0: print('GOT')"
    ),
    "a file with its owner's rights": (
        "import os\nopen('tool', 'w').write('x')\nos.chmod('tool', 0o4755)\n"
        "print('GOT' if os.stat('tool').st_mode & 0o4000 else 'NO')"
    ),
    "the programs of the host": "import os; print('GOT' if os.access('/usr/bin', os.W_OK) else 'NO')",
    "a remount": (
        "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
        "print('GOT' if c.mount(b'', b'/usr', b'', 0x1020, None) == 0 else 'NO')"
    ),
    "its own filter": (
        "d = dict(l.split(':', 1) for l in open('/proc/self/status'))\n"
        "print('GOT' if d['Seccomp'].strip() == '0' else 'NO')"
    ),
    "files that were open": "import os; print('GOT' if len(os.listdir('/proc/self/fd')) > 4 else 'NO')",
    "the folder above": "import os; os.chdir('..'); print('GOT' if os.path.exists('secret') else 'NO')",
    "the disks": "import glob; print('GOT' if glob.glob('/dev/[svh]d*') + glob.glob('/dev/nvme*') else 'NO')",
    "somebody's keyboard": (
        "import fcntl, termios\n"
        "try: fcntl.ioctl(0, termios.TIOCSTI, b'x'); print('GOT')\nexcept OSError: print('NO')"
    ),
    "shared memory that nobody counts": (
        "import ctypes\nc = ctypes.CDLL(None)\nprint('GOT' if c.shmget(0, 1 << 20, 0o1600) >= 0 else 'NO')"
    ),
}


@pytest.mark.parametrize("way", NO_WAY)
async def test_there_is_no_way_to(way: str, ground: Ground) -> None:
    came = await ground.run(NO_WAY[way])
    assert not GOT.search(output(came)), came
    assert came.error is None or fault(came) == "exit_status"


async def test_a_programs_words_and_files_come_back(ground: Ground) -> None:
    came = await ground.run("print('héllo')\nopen('rows.csv', 'w').write('a,b\\n')")
    assert came.data == {"exit": 0, "output": "héllo\n", "made": ["rows.csv 4 bytes"]}
    assert (came.status, came.trust, came.source) == ("ok", "untrusted", "sandbox")
    tools = {one.name: one for one in file_tools()}
    read = await call(tools["read_file"], {"path": "rows.csv"}, context(ground.workspace))
    assert read.is_ok, read


async def test_a_later_program_sees_what_an_earlier_one_left_and_may_import_it(ground: Ground) -> None:
    await ground.run("open('mine.py', 'w').write('answer = 42')")
    came = await ground.run("import mine\nprint(mine.answer)")
    assert came.data == {"exit": 0, "output": "42\n", "made": []}


async def test_a_file_of_the_operators_folder_is_handed_in_and_stays_as_it_is(ground: Ground) -> None:
    (ground.folder / "outside" / "data.txt").write_text("7")
    try:
        tool = python_tools(ground.sandbox, [ground.folder / "outside"]).tools[0]
        code = "print(open('/in/data.txt').read())\nopen('/in/data.txt', 'w')"
        came = await call(tool, {"code": code, "files": ["data.txt"]}, context(ground.workspace))
        astray = await call(tool, {"code": "1", "files": ["../secret"]}, context(ground.workspace))
    finally:
        held = (ground.folder / "outside" / "data.txt").read_text()
        (ground.folder / "outside" / "data.txt").unlink()
    assert output(came).startswith("7\n")
    assert "Read-only" in output(came) or "Permission" in output(came)
    assert held == "7"
    assert fault(astray) == "refused"


async def test_a_failed_program_says_how_and_where(ground: Ground) -> None:
    came = await ground.run("print('before')\n1/0")
    assert (came.status, fault(came)) == ("error", "exit_status")
    assert output(came).startswith("before\nTraceback")
    assert 'File "/in/main.py", line 2' in output(came)


async def test_of_a_long_output_both_ends_are_kept_and_the_rest_is_counted(ground: Ground) -> None:
    came = await ground.run("print('a' * 50_000 + 'the end')")
    assert came.truncated == "first and last 3,000 of 50,008 characters of output"
    assert output(came).endswith("the end\n")
    assert "[… 44,008 characters left out …]" in output(came)


async def test_neither_tmp_nor_shared_memory_take_more_than_their_share(ground: Ground) -> None:
    code = (
        "import errno\nfor folder in ('/tmp', '/dev/shm', '/dev'):\n    n = 0\n    try:\n"
        "        for i in range(9):\n            with open(f'{folder}/f{i}', 'wb', 0) as f:\n"
        "                for k in range(20): f.write(bytes(1 << 20)); n += 1\n"
        "    except OSError: pass\n    print(folder, n)"
    )
    took = dict(line.split() for line in output(await ground.run(code)).splitlines())
    assert [int(took[folder]) <= 64 for folder in ("/tmp", "/dev/shm", "/dev")] == [True, True, True]  # noqa: S108
    assert took["/dev"] == "0"


OVERGROWN = {
    "too many files": "for i in range(5000): open(f'f{i}', 'w')",
    "folders too deep": "import os\nfor i in range(60): os.mkdir('d'); os.chdir('d')",
    "folders very deep": "import os\nfor i in range(3000): os.mkdir('d'); os.chdir('d')",
    "too many folders": "import os\nfor i in range(5000): os.mkdir(f'd{i}')",
    "links without end": "import os\nfor i in range(5000): os.symlink('/etc', f'l{i}')",
    "hidden in a closed folder": (
        "import os\nos.mkdir('d')\nfor i in range(3):\n    with open(f'd/{i}', 'wb', 0) as f:\n"
        "        for k in range(60): f.write(bytes(1 << 20))\nos.chmod('d', 0)"
    ),
}


@pytest.mark.parametrize("how", OVERGROWN)
async def test_a_workspace_that_grows_too_large_is_brought_back(how: str, ground: Ground) -> None:
    (ground.workspace / "kept.txt").write_text("kept")
    came = await ground.run(OVERGROWN[how])
    assert fault(came) == "workspace_limit", came
    assert (ground.workspace / "kept.txt").read_text() == "kept"
    assert len(list(ground.workspace.iterdir())) < 100
    assert (await ground.run("print('goes on')")).is_ok


async def test_the_memory_of_all_processes_is_counted_together(ground: Ground) -> None:
    code = (
        "import os, time\nfor i in range(8):\n"
        "    if os.fork() == 0: b = b'x' * (100 << 20); time.sleep(9); os._exit(0)\ntime.sleep(9)"
    )
    assert fault(await ground.run(code)) == "memory_limit"


async def test_memory_that_forks_share_counts_once(ground: Ground) -> None:
    code = (
        "import os, time\nb = b'x' * (100 << 20)\n"
        "for i in range(12):\n    if os.fork() == 0: time.sleep(1); os._exit(0)\ntime.sleep(1)"
    )
    assert (await ground.run(code)).is_ok


async def test_a_closed_workspace_is_opened_again(ground: Ground) -> None:
    await ground.run("import os; os.chmod('/work', 0)")
    assert (await ground.run("print('goes on')")).is_ok
    assert ground.workspace.stat().st_mode & 0o777 == 0o700


async def test_a_run_that_is_cancelled_is_ended_with_all_it_began(ground: Ground) -> None:
    word = f"301.{ground.words['token']}"
    code = f"import os, subprocess\nopen('begun', 'w')\nsubprocess.run(['sleep', '{word}'])"
    (ground.workspace / "begun").unlink(missing_ok=True)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(ground.run(code))
        async with asyncio.timeout(10):
            while not (ground.workspace / "begun").exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0)
        running.cancel()
    assert ground.survivors(word) == []


async def test_programs_of_many_threads_run_at_once_and_see_nothing_of_each_other(ground: Ground) -> None:
    cames = await asyncio.gather(*(ground.run(f"print({number})") for number in range(8)))
    assert [output(came) for came in cames] == [f"{number}\n" for number in range(8)]


async def test_after_a_crash_it_is_known_that_the_program_broke_off(ground: Ground) -> None:
    box = CoreToolbox([python_tools(ground.sandbox).tools[0]])
    came = await box.reconcile(ready(box, "run_python", {"code": "1"}), context(ground.workspace))
    assert came is not None
    assert (came.status, fault(came)) == ("error", "broke_off")


async def test_a_model_lets_a_program_run_and_builds_on_what_it_printed(ground: Ground) -> None:
    script = [
        act("run_python", code="open('sum.csv', 'w').write('a')\nprint(6 * 7)"),
        act("finish", answer="It is 42.", confidence=0.9, evidence=["run_python"], files=["sum.csv"]),
    ]
    async with scripted(ground.folder / "state", script) as bot:
        await bot.talk().say("please multiply six by seven")
        post = await bot.talk().heard()
        assert "42" in bot.prompts[-1]
    assert post.text.startswith("It is 42.")
    assert [file.name for file in post.files] == ["sum.csv"]
