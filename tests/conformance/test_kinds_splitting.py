"""Answers too long, or refused in their form: B-84, B-85, B-87 and B-90, on Slack and on Telegram.

B-84: limits, for any content. B-85: code and tables across parts. B-87: what the platform refuses. B-90:
parts and files in order.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import finish
from eyes import content, read
from places import CHAT
from stages import stage

from hermes_bot.simulator import Fault, FaultPlan

if TYPE_CHECKING:
    from pathlib import Path

    from stages import Stage

    from hermes_bot.simulator import Entry

each_chat = pytest.mark.parametrize("platform", CHAT)

LONG = {
    "a fence in one line": ("```json\n" + "x" * 7_000 + "\n```", "x", 7_000),
    "signs that escaping makes longer": ("<" * 4_000, "<", 4_000),
    "ampersands in code": ("```\n" + ("&" * 70 + "\n") * 80 + "```", "&", 5_600),
    "one word": ("y" * 9_000, "y", 9_000),
    "emoji": ("😀" * 4_500, "😀", 4_500),
    "marks": ("\\*" * 4_000, "*", 4_000),
    "bold letters": (" ".join(["**q**"] * 1_500), "q", 1_500),
    "quotes": ("> z\n" * 2_500, "z", 2_500),
    "links": (" ".join(f"[w](https://a.example/{n})" for n in range(300)), "w", 300),
}


async def told(it: Stage, text: str = "tell me") -> list[Entry]:
    """Ask, and return all posts of the answer, once it is whole."""
    before = len(it.everything())
    await it.mention(text)
    await it.until(lambda: len(it.everything()) > before)
    await it.settle()
    return it.everything()[before:]


def refusals(it: Stage) -> list[str]:
    """Return the calls that the platform refused."""
    if it.platform == "slack":
        tolerated = ("no_reaction", "already_reacted", "")
        return [f"{call.method}: {call.error}" for call in it.sim.calls if call.error not in tolerated]
    return [f"{call.method}: {call.args}" for call in it.sim.calls if call.status >= 400]


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@each_chat
@pytest.mark.parametrize("what", LONG)
async def test_no_part_is_over_the_limit_and_nothing_is_dropped(
    platform: str, what: str, tmp_path: Path
) -> None:
    text, sign, count = LONG[what]
    async with stage(platform, tmp_path, [finish(text)]) as it:
        posts = await told(it)
        assert refusals(it) == []
        assert it.sim.complaints == []
        for post in posts:
            assert post.text.strip()
            assert units(post.text) <= 4_096 if platform == "telegram" else len(post.text) <= 4_000
        whole = [content(it, post) for post in posts if post.files]
        if whole:
            assert [one.count(sign) for one in whole] == [text.count(sign)]
        else:
            assert sum(read(post).words.count(sign) for post in posts) == count


PYTHON = "".join(
    f"def f{n}(x):\n    if x > {n}:\n\n        return x < {n}  # [1] *two* _three_\n" for n in range(100)
)
SHORT = "".join(f"{'    ' * (n % 3)}x{n} = {n}\n" if n % 7 else "\n" for n in range(400))


@each_chat
@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
@pytest.mark.parametrize("code", [SHORT, PYTHON], ids=["parts", "file"])
async def test_a_long_block_of_code_joined_again_is_what_was_written(
    platform: str, fence: str, code: str, tmp_path: Path
) -> None:
    assert code.count("\n") == 400
    async with stage(
        platform, tmp_path, [finish(f"Here it is:\n\n{fence}python\n{code}{fence}\n\nDone.")]
    ) as it:
        posts = await told(it)
        assert refusals(it) == []
        whole = [content(it, post) for post in posts if post.files]
        if whole:
            assert code in whole[0]
            return
        pieces = [piece for post in posts for piece in read(post).code]
        assert len(pieces) > 1
        ends = "\n" if platform == "telegram" else ""  # what a block ends with there is not shown
        assert "".join(f"{piece}{ends}" for piece in pieces) == code
        assert "Here it is:" in read(posts[0]).words
        assert "Done." in read(posts[-1]).words
        assert [post for post in posts if fence in read(post).words] == []
        if platform == "telegram":
            languages = [
                one.get("language") for post in posts for one in post.raw["entities"] if one["type"] == "pre"
            ]
            assert set(languages) == {"python"}


def table(rows: int) -> str:
    lines = "".join(f"| host-{n} | {n} % | a < {n} |\n" for n in range(rows))
    return f"| host | load | why |\n|---|---:|---|\n{lines}"


@each_chat
@pytest.mark.parametrize("rows", [3, 200])
async def test_a_table_is_readable_and_a_long_one_repeats_its_header_or_is_a_file(
    platform: str, rows: int, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [finish(f"The hosts:\n\n{table(rows)}\nThat is all.")]) as it:
        posts = await told(it)
        assert refusals(it) == []
        files = [content(it, post) for post in posts if post.files]
        words = [read(post).words for post in posts]
        assert "The hosts:" in "\n".join(words)
        for number in (0, rows // 2, rows - 1):
            shown = [text for text in (*files, *words) if f"host-{number}" in text]
            assert shown
            assert f"a < {number}" in shown[0]
        if files:
            assert rows == 200
            assert sum(line.count("host-") for line in files[0].splitlines()) == rows
        else:
            shown = [text for text in words if "host-" in text]
            assert all("load" in text for text in shown)
            assert sum(text.count("host-") for text in shown) == rows


REFUSED = {
    "slack": [("chat.postMessage", "invalid_blocks", ""), ("chat.postMessage", "invalid_blocks_format", "")],
    "telegram": [
        (
            "editMessageText",
            "400",
            "Bad Request: can't parse entities: unsupported start tag at byte offset 1",
        ),
        ("editMessageText", "400", "Bad Request: can't parse entities: Can't find end of the entity"),
    ],
}


@pytest.mark.parametrize(
    ("platform", "method", "error", "says"), [(name, *case) for name in CHAT for case in REFUSED[name]]
)
async def test_a_form_that_is_refused_once_comes_as_plain_text_from_the_source(
    platform: str, method: str, error: str, says: str, tmp_path: Path
) -> None:
    source = "**bold** a < b && c\n\n- one\n- two\n\n`code_x`"
    faults = FaultPlan(Fault(method, "refuse", error=error, description=says))
    async with stage(platform, tmp_path, [finish(source)], faults=faults) as it:
        (post,) = await told(it)
        words = read(post).words
        for piece in ("bold", "a < b && c", "- one", "- two", "code_x"):
            assert piece in words
        assert "**bold**" in words  # the source, and no stripped markup
        assert "&lt;" not in words


async def test_a_post_that_slack_finds_too_long_comes_whole_all_the_same(tmp_path: Path) -> None:
    faults = FaultPlan(Fault("chat.postMessage", "refuse", error="msg_too_long"))
    async with stage("slack", tmp_path, [finish("kiwi " * 700)], faults=faults) as it:
        posts = await told(it)
        files = [content(it, post) for post in posts if post.files]
        shown = sum(read(post).words.count("kiwi") for post in posts)
        assert (files and files[0].count("kiwi") == 700) or shown == 700


async def test_an_edit_that_telegram_finds_too_long_comes_whole_all_the_same(tmp_path: Path) -> None:
    says = "Bad Request: message is too long"
    faults = FaultPlan(Fault("editMessageText", "refuse", error="400", description=says))
    async with stage("telegram", tmp_path, [finish("kiwi " * 700)], faults=faults) as it:
        posts = await told(it)
        files = [content(it, post) for post in posts if post.files]
        shown = sum(read(post).words.count("kiwi") for post in posts)
        assert (files and files[0].count("kiwi") == 700) or shown == 700


@each_chat
@pytest.mark.parametrize("length", [40_000, 150_000])
async def test_too_much_is_a_short_summary_and_a_file_with_all_of_it(
    platform: str, length: int, tmp_path: Path
) -> None:
    text = "".join(f"finding {number:05}: all of it\n\n" for number in range(length // 28))
    async with stage(platform, tmp_path, [finish(text)]) as it:
        posts = await told(it)
        assert refusals(it) == []
        (with_file,) = [post for post in posts if post.files]
        assert content(it, with_file).strip() == text.strip()
        assert posts.index(with_file) < len(posts) - 1  # the file is there before the text that points at it
        name = str(with_file.files[0]["name"])
        assert name in read(posts[-1]).words
        assert "finding 00000" in read(posts[-1]).words
        assert sum(len(post.text) for post in posts) < 3_000


async def until_whole(it: Stage, clock: JumpClock, last: str) -> list[Entry]:
    async with asyncio.timeout(15):
        while not any(last in post.text for post in it.everything()):
            clock.advance(1)
            await asyncio.sleep(0.02)
    await it.settle()
    return it.everything()


@each_chat
@pytest.mark.parametrize("kind", ["rate_limited", "server_error", "lost_answer"])
@pytest.mark.parametrize("part", [1, 2, 3])
async def test_a_part_goes_after_the_former_and_a_failed_one_is_retried_and_not_skipped(
    platform: str, kind: Any, part: int, tmp_path: Path
) -> None:
    word = "x" * 60 if platform == "slack" else "😀" * 30  # which counts twice there
    number_of = 110 if platform == "slack" else 150
    lines = [f"line {number:03} {word}" for number in range(number_of)]
    clock = JumpClock()
    method = "chat.postMessage" if platform == "slack" else "editMessageText"
    faults = FaultPlan(Fault(method, kind, after=part - 1, retry_after=2))
    async with stage(platform, tmp_path, [finish("\n\n".join(lines))], faults=faults, clock=clock) as it:
        await it.mention("tell me everything")
        posts = await until_whole(it, clock, f"line {number_of - 1}")
        assert len(posts) == 3
        whole = "\n".join(read(post).words for post in posts)
        places = [whole.find(f"line {number:03}") for number in range(number_of)]
        assert -1 not in places
        assert places == sorted(places)
        assert whole.count("line ") == number_of


@each_chat
@pytest.mark.parametrize("blank", ["", "   ", "\n\n", "\u200b", "\u2060\n \ufeff"])
async def test_a_blank_answer_is_no_blank_post(platform: str, blank: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=finish(blank)) as it:
        posts = await told(it)
        assert refusals(it) == []
        (post,) = posts
        assert read(post).words.strip()
        assert (await it.runs())[0].id in post.text
