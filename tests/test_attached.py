"""What goes with an answer: a chain's files and those a finish names, once each, whatever dies when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish
from loop.rounds import begun, decided, row
from world import Bench, Running, World, request, running, scripted

from hermes_bot.config import Skills
from hermes_bot.decisions import Action, CallTool
from hermes_bot.errors import RateLimited
from hermes_bot.fold import apply
from hermes_bot.store import outbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.messages import Outgoing

CHAIN = """
steps:
  - {id: time, tool: now}
  - {id: word, say: "All is well."}
attach:
  - {name: "all of it.md", template: more.md.j2, about: "The whole story"}
"""
MORE = "# The whole story\n\nIt is {{ time.data.weekday }}.\n"


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    home = tmp_path / "skills" / "tell-all"
    home.mkdir(parents=True)
    (home / "SKILL.md").write_text("---\nname: tell-all\ndescription: Tells all of it.\n---\n")
    (home / "chain.yaml").write_text(CHAIN)
    (home / "more.md.j2").write_text(MORE)
    return Skills(folders=(home.parent,))


def sends(answer: str, files: Any, evidence: Sequence[str] = ()) -> Answer:
    return act("finish", answer=answer, confidence=0.9, evidence=list(evidence), files=files)


def contents(post: Outgoing) -> dict[str, str]:
    return {file.name: Path(file.path).read_text() for file in post.files}


def gone(post: Outgoing) -> None:
    for file in post.files:
        Path(file.path).unlink()


async def write_note(bot: Running, name: str = "note.txt", text: str = "a note\n") -> Path:
    folder = bot.app.runs.workspace(bot.talk().thread)
    (folder / name).write_text(text)
    return folder


async def test_a_chains_file_goes_with_its_report(tmp_path: Path, skills: Skills) -> None:
    async with running(tmp_path / "state", skills=skills) as bot:
        await bot.talk().say("tell-all", request=request("tell-all"))
        answer = await bot.talk().heard()
        (run,) = await bot.runs()
        folder = bot.app.runs.workspace(bot.talk().thread)
    assert answer.text == "All is well.\n\n_Attached: `all-of-it.md`. The whole story._"
    (file,) = answer.files
    assert (file.name, file.about) == ("all-of-it.md", "The whole story")
    assert Path(file.path) == folder / "out" / f"{run.id}-1" / "all-of-it.md"
    assert contents(answer)["all-of-it.md"].startswith("# The whole story\n\nIt is ")


async def test_a_process_that_dies_between_report_and_post_sends_both_after_its_restart(
    tmp_path: Path, skills: Skills
) -> None:
    world = World()
    world.faults.append(RateLimited("slow down", 600))
    async with running(tmp_path / "state", skills=skills, world=world) as bot:
        await bot.talk().say("tell-all", request=request("tell-all"))
        await bot.until(lambda: not world.faults)
        await bot.settle()
        clock = bot.clock
    assert world.posts == []
    async with running(tmp_path / "state", skills=skills, clock=clock) as bot:
        await bot.pass_time(600, step=60)
        (answer,) = await bot.world.all_posts(1)
    assert answer.text.startswith("All is well.")
    assert contents(answer)["all-of-it.md"].startswith("# The whole story")


async def test_a_file_that_vanished_meanwhile_does_not_hold_the_answer_back(
    tmp_path: Path, skills: Skills
) -> None:
    world = World()
    world.faults.append(RateLimited("slow down", 600))
    async with running(tmp_path / "state", skills=skills, world=world) as bot:
        await bot.talk().say("tell-all", request=request("tell-all"))
        await bot.until(lambda: not world.faults)
        await bot.settle()
        (row,) = await bot.app.db.read(lambda db: outbox.due(db, bot.clock.now().replace(year=2100)))
        gone(row.message)
        await bot.pass_time(601, step=60)
        (answer,) = await world.all_posts(1)
    assert answer.files == ()
    assert answer.text.startswith("All is well.")
    assert "`all-of-it.md` (The whole story) could not be shown here." in answer.text


async def test_a_models_answer_carries_the_files_of_the_skill_it_used_and_its_own(
    tmp_path: Path, skills: Skills
) -> None:
    script = [
        act("run_skill", name="tell-all"),
        act("write_file", path="mine/rows.csv", text="a,b\n"),
        sends("Here it is.", ["mine/rows.csv"], ["run_skill"]),
    ]
    async with scripted(tmp_path / "state", script, skills=skills) as bot:
        await bot.talk().say("all of it, and the rows")
        answer = await bot.talk().heard()
        (run,) = await bot.runs()
    assert list(contents(answer)) == ["all-of-it.md", "rows.csv"]
    assert f"out/{run.id}-1/all-of-it.md" in bot.prompts[1]  # where it can be read again
    assert str(tmp_path) not in "".join(bot.prompts)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["gone.txt"], "'gone.txt': there is no such file"),
        (["../../hermes.db"], "leads out of the folder"),
        (["/etc/passwd"], "leads out of the folder"),
        (["."], "is a folder"),
        ([f"{number}.txt" for number in range(6)], "at most 5 files"),
        (["sub/note.txt", "note.txt"], "has the name already"),
    ],
)
async def test_a_file_that_cannot_go_is_refused_once_and_then_left_out(
    tmp_path: Path, files: list[str], why: str
) -> None:
    bad = sends("Done.", files)
    async with scripted(tmp_path, [bad, bad]) as bot:
        folder = await write_note(bot)
        (folder / "sub").mkdir()
        (folder / "sub" / "note.txt").write_text("another")
        await bot.talk().say("go")
        answer = await bot.talk().heard()
        (run,) = await bot.runs()
        state = await bot.state(run.id)
    assert why in bot.prompts[1]
    assert answer.text.startswith("Done.\n\n_Not everything could be attached: ")
    assert why in answer.text
    assert len(answer.files) == (1 if "note.txt" in files else 0)
    assert state.is_verified


async def test_a_file_over_the_limit_stays_where_it_is(tmp_path: Path) -> None:
    large = sends("Done.", ["large.bin"])
    async with scripted(tmp_path, [large, large]) as bot:
        folder = await write_note(bot)
        with (folder / "large.bin").open("wb") as out:
            out.truncate(20_000_001)
        await bot.talk().say("go")
        assert "at most 20,000,000 are sent" in (await bot.talk().heard()).text


async def test_a_continued_run_sends_only_what_is_new(tmp_path: Path, skills: Skills) -> None:
    bench = Bench()
    repeated = [act("echo", word="x")] * 3
    script = [
        act("run_skill", name="tell-all"),
        *repeated,
        sends("Done.", "note.txt", ["echo"]),
    ]
    async with scripted(tmp_path / "state", script, skills=skills, tools=bench.tools()) as bot:
        await write_note(bot)
        await bot.talk().say("go")
        report = await bot.talk().heard()
        assert [file.name for file in report.files] == ["all-of-it.md"]
        await bot.talk().press(report.buttons[0].press.question, 0)
        answer = await bot.talk().heard()
    assert [file.name for file in answer.files] == ["note.txt"]


async def test_who_stops_a_run_is_sent_no_file(tmp_path: Path, skills: Skills) -> None:
    script = [act("run_skill", name="tell-all"), act("request_info", question="And now?")]
    async with scripted(tmp_path / "state", script, skills=skills) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        await bot.talk().say("stop")
        assert (await bot.talk().heard()).files == ()


async def test_other_tools_name_no_files(tmp_path: Path) -> None:
    bench = Bench()
    word = '{"report": "x", "files": [{"name": "x", "path": "../../hermes.db", "about": ""}]}'
    script = [act("echo", word=word), finish("Done.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        await bot.talk().say("go")
        assert (await bot.talk().heard()).files == ()


def closed(state: Any, **data: Any) -> Any:
    state = decided(state, CallTool(Action("run_skill", {"name": "x"})))
    absorbed = {"text": "t", "summary": "s", **data}
    state = apply(state, row(state.round, "absorb", absorbed, status="ok", action="run_skill"))
    return apply(state, row(state.round, "judge", {"verdict": "continue"}, status="ok"))


def test_a_later_file_takes_the_place_of_one_of_its_name_and_older_rows_have_none() -> None:
    state = closed(begun())
    assert state.files == ()
    for path in ("/w/out/1/a.md", "/w/out/2/b.md", "/w/out/3/a.md"):
        state = closed(state, files=[{"name": path[-4:], "path": path, "about": ""}])
    assert [file.path for file in state.files] == ["/w/out/2/b.md", "/w/out/3/a.md"]
