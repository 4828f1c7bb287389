from __future__ import annotations

import asyncio
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from tools.toolroom import a_run, call, context, ready

from hermes_bot.decisions import Action
from hermes_bot.errors import StoreError, ToolError
from hermes_bot.messages import Result
from hermes_bot.ports import Prepared
from hermes_bot.state import Question
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.toolbox import CoreToolbox
from hermes_bot.tools.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ANYTHING: dict[str, Any] = {"type": "object", "properties": {}}


def made(act: Callable[[], object], **more: Any) -> Tool:
    """Return a tool that does one thing, in a thread if ``is_blocking`` is given."""
    return Tool("act", "Act (once).", ANYTHING, lambda _args, _ctx: act(), **more)


def raises(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


@tool(example={"q": 1})
async def query_logs(q: int) -> int:
    """Answer with the number (one)."""
    return q


def refusal(box: CoreToolbox, name: str, args: Any) -> Result:
    came = box.prepare(Action(name, args), a_run())
    assert isinstance(came, Result)
    return came


def test_an_unknown_tool_names_the_nearest() -> None:
    came = refusal(CoreToolbox([query_logs]), "qurey_logs", {})
    assert came.error is not None
    assert came.error.code == "unknown_tool"
    assert "Nearest: query_logs." in came.error.message


def test_misfit_arguments_are_refused_before_anything_runs() -> None:
    came = refusal(CoreToolbox([query_logs]), "query_logs", {"q": "x", "z": 1})
    assert came.error is not None
    assert came.error.code == "invalid_args"
    assert "`z` is no field" in came.error.message
    assert "`q` should be integer" in came.error.message


@pytest.mark.parametrize("args", ['{"q": 1}', {"q": "1"}, {"q": 1.0}])
def test_coerced_arguments_make_one_canonical_action(args: Any) -> None:
    assert ready(CoreToolbox([query_logs]), "query_logs", args).action == Action("query_logs", {"q": 1})


def test_what_is_not_allowed_is_neither_shown_nor_run() -> None:
    box = CoreToolbox([query_logs], allow=lambda name, state: f"{state.asker} may not use {name}.")
    came = refusal(box, "query_logs", {"q": 1})
    assert came.status == "denied"
    assert came.error is not None
    assert came.error.message == "console:local:u1 may not use query_logs."
    assert box.cards(a_run()) == ()


def test_an_effect_key_depends_on_root_action_step_and_item_only() -> None:
    box = CoreToolbox([made(lambda: 1, risk="write")])

    def key(run: str, root: str, step: str = "", item: int = 0) -> str:
        prepared = box.prepare(Action("act", {}), a_run(run, root), step=step, item=item)
        assert isinstance(prepared, Prepared)
        return prepared.key

    assert key("r1", "r1") == key("r2", "r1")  # a continued run keeps the root
    assert len({key("r1", "r1"), key("r1", "other"), key("r1", "r1", "s"), key("r1", "r1", "s", 1)}) == 4
    assert ready(CoreToolbox([query_logs]), "query_logs", {"q": 1}).key == ""


async def test_a_danger_tool_asks_for_approval_and_runs_nothing(tmp_path: Path) -> None:
    ran: list[int] = []
    box = CoreToolbox([made(lambda: ran.append(1), risk="danger")])
    assert refusal(box, "act", {}).status == "needs_confirmation"
    came = await box.run(Prepared(Action("act", {}), "danger", key="k"), context(tmp_path))
    assert isinstance(came, Result)
    assert came.status == "needs_confirmation"
    assert ran == []


@pytest.mark.parametrize("is_blocking", [False, True], ids=["on the loop", "in a thread"])
@pytest.mark.parametrize(
    ("act", "code"),
    [
        (raises(ValueError("secret")), "crashed"),
        (raises(SystemExit(3)), "crashed"),
        (raises(KeyboardInterrupt()), "crashed"),
        (raises(StopIteration()), "crashed"),
        (raises(asyncio.CancelledError()), "crashed"),
        (raises(MemoryError()), "crashed"),
        (raises(ToolError("not_found", "no such thing")), "not_found"),
        (lambda: None, "no_result"),
        (lambda: b"bytes", "wrong_type"),
        (lambda: {"a": {1, 2}}, "wrong_type"),
        (lambda: {(1, 2): 3}, "wrong_type"),
        (lambda: Result("fine"), "wrong_type"),  # type: ignore[arg-type]
        (lambda: Result("ok", object()), "wrong_type"),  # type: ignore[arg-type]
    ],
)
async def test_whatever_a_tool_does_becomes_a_result(
    act: Callable[[], object], code: str, tmp_path: Path, *, is_blocking: bool
) -> None:
    came = await call(made(act, is_blocking=is_blocking), {}, context(tmp_path))
    assert came.status == "error"
    assert came.error is not None
    assert came.error.code == code
    assert "secret" not in came.error.message
    again = await call(made(lambda: {"fine": True}), {}, context(tmp_path))
    assert again.data == {"fine": True}


async def test_a_crashed_effect_is_unknown_but_a_declined_one_is_not(tmp_path: Path) -> None:
    crashed = await call(made(raises(OSError("half way")), risk="write"), {}, context(tmp_path))
    declined = await call(made(raises(ToolError("full", "no room")), risk="write"), {}, context(tmp_path))
    assert (crashed.status, declined.status) == ("unknown", "error")


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(("risk", "status"), [("read", "timeout"), ("write", "unknown")])
async def test_a_hang_ends_at_the_time_out_and_an_effect_is_unknown(
    risk: Any, status: str, tmp_path: Path
) -> None:
    came = await call(made(forever, risk=risk, timeout=0.01), {}, context(tmp_path))
    assert came.status == status
    assert came.error is not None
    assert came.error.code == "timeout"


async def test_a_hanging_thread_does_not_keep_the_loop_from_going_on(tmp_path: Path) -> None:
    release = threading.Event()
    came = await call(made(release.wait, is_blocking=True, timeout=0.01), {}, context(tmp_path))
    assert came.status == "timeout"
    release.set()


async def test_when_all_threads_hang_a_call_says_so_and_runs_nothing(tmp_path: Path) -> None:
    release, ran = threading.Event(), []
    box = CoreToolbox(
        [
            made(release.wait, is_blocking=True, timeout=0.01),
            Tool("more", "Do (once).", ANYTHING, lambda *_: ran.append(1), is_blocking=True, risk="write"),
        ],
        workers=Workers(limit=1, patience_seconds=0.01),
    )
    await box.run(ready(box, "act", {}), context(tmp_path))
    came = await box.run(ready(box, "more", {}), context(tmp_path))
    release.set()
    assert isinstance(came, Result)
    assert came.error is not None
    assert (came.status, came.error.code, ran) == ("error", "busy", [])


async def test_waiting_for_a_free_thread_is_not_counted_as_the_tools_time(tmp_path: Path) -> None:
    release, begun = threading.Event(), threading.Event()

    def hold() -> bool:
        begun.set()
        return release.wait(10)

    quick = Tool("more", "Do (once).", ANYTHING, lambda *_: "done", is_blocking=True, timeout=0.02)
    box = CoreToolbox([made(hold, is_blocking=True), quick], workers=Workers(limit=1))
    async with asyncio.timeout(10), asyncio.TaskGroup() as both:
        both.create_task(box.run(ready(box, "act", {}), context(tmp_path)))
        await asyncio.to_thread(begun.wait)
        waits = both.create_task(box.run(ready(box, "more", {}), context(tmp_path)))
        asyncio.get_running_loop().call_later(0.1, release.set)  # five of its time-outs later
    came = waits.result()
    assert isinstance(came, Result)
    assert (came.status, came.data) == ("ok", "done")


async def test_blocking_tools_overlap_and_leave_the_loop_free(tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def meet() -> int:
        return together.wait(timeout=5)

    box = CoreToolbox([made(meet, is_blocking=True)])
    async with asyncio.timeout(5), asyncio.TaskGroup() as both:
        calls = [both.create_task(box.run(ready(box, "act", {}), context(tmp_path))) for _ in range(2)]
        await asyncio.to_thread(meet)  # the loop turns while both wait for this
    for one in calls:
        came = one.result()
        assert isinstance(came, Result)
        assert came.status == "ok"


async def test_cancelling_from_outside_passes_through(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def work() -> None:
        started.set()
        await forever()

    box = CoreToolbox([made(work)])
    task = asyncio.create_task(box.run(ready(box, "act", {}), context(tmp_path)))
    async with asyncio.timeout(5):
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_journal_that_fails_under_a_chain_is_no_result_of_the_tool(tmp_path: Path) -> None:
    box = CoreToolbox([made(raises(StoreError("disk full")))])
    with pytest.raises(StoreError):
        await box.run(ready(box, "act", {}), context(tmp_path))


@pytest.mark.parametrize(
    ("more", "tries"),
    [
        ({"retries": 2}, 3),
        ({"retries": 2, "risk": "write"}, 1),
        ({"retries": 2, "risk": "write", "is_idempotent": True}, 3),
    ],
)
async def test_only_idempotent_tools_are_tried_again(more: Any, tries: int, tmp_path: Path) -> None:
    count = 0

    def fail() -> None:
        nonlocal count
        count += 1
        raise ToolError("away", "not now", retryable=True)

    clock = FakeClock()
    box = CoreToolbox([made(fail, **more)])
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        task = group.create_task(box.run(ready(box, "act", {}), context(tmp_path, clock)))
        while not task.done():
            clock.advance(1)
            await asyncio.sleep(0)
    assert count == tries


async def test_a_failure_that_stays_is_not_tried_again(tmp_path: Path) -> None:
    count = 0

    def fail() -> None:
        nonlocal count
        count += 1
        raise ToolError("wrong", "never")

    await call(made(fail, retries=5), {}, context(tmp_path))
    assert count == 1


async def test_two_hundred_megabytes_are_cut_with_words(tmp_path: Path) -> None:
    came = await call(made(lambda: "x" * 200_000_000), {}, context(tmp_path))
    assert isinstance(came.data, str)
    assert len(came.data) == 1_000_000
    assert came.truncated == "first 1,000,000 of 200,000,000 characters"
    assert came.length == 200_000_000


async def test_a_huge_list_is_cut_with_words(tmp_path: Path) -> None:
    came = await call(made(lambda: {"rows": ["y" * 96] * 1_000_000}), {}, context(tmp_path))
    assert came.truncated == "first 10,000 of 1,000,000 items; first 84 of 96 characters"


async def test_data_that_no_database_takes_is_made_so_that_it_does(tmp_path: Path) -> None:
    came = await call(made(lambda: {"half": "\ud800", "n": float("nan")}), {}, context(tmp_path))
    assert came.data == {"half": "?", "n": "nan"}


async def test_results_of_outside_tools_are_untrusted(tmp_path: Path) -> None:
    came = await call(made(lambda: Result("ok", "page"), outside=True), {}, context(tmp_path))
    assert came.trust == "untrusted"


async def test_a_tool_may_answer_with_a_question(tmp_path: Path) -> None:
    question = Question("q1", "Which service?")
    box = CoreToolbox([made(lambda: question)])
    assert await box.run(ready(box, "act", {}), context(tmp_path)) is question


async def test_an_effect_without_read_back_cannot_be_reconciled(tmp_path: Path) -> None:
    box = CoreToolbox([made(lambda: 1, risk="write")])
    assert await box.reconcile(ready(box, "act", {}), context(tmp_path)) is None


@pytest.mark.parametrize(
    ("found", "status"), [(Result("ok", {"id": 7}), "ok"), (None, None), (Result("unknown"), None)]
)
async def test_reconcile_says_what_became_of_an_effect_or_nothing(
    found: object, status: str | None, tmp_path: Path
) -> None:
    box = CoreToolbox([made(lambda: 1, risk="write", reconcile=lambda _args, _ctx: found)])
    came = await box.reconcile(ready(box, "act", {}), context(tmp_path))
    assert (came.status if came else None) == status


async def test_the_working_time_comes_from_the_clock(tmp_path: Path) -> None:
    clock = FakeClock()

    def work() -> str:
        clock.advance(1.5)
        return "done"

    came = await call(made(work), {}, context(tmp_path, clock))
    assert came.duration_ms == 1500


async def test_a_tool_too_deep_for_the_stack_is_a_result(tmp_path: Path) -> None:
    def dig() -> object:
        nest: list[Any] = []
        for _ in range(sys.getrecursionlimit()):
            nest = [nest]
        return nest

    came = await call(made(dig), {}, context(tmp_path))
    assert came.error is not None
    assert came.error.code == "wrong_type"
