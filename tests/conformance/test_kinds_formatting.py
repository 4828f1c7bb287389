"""What is read is what was written, and nothing of it is live: B-86, B-88 and B-89, on Slack and on Telegram.

B-86: escapes. B-88: one text on every path. B-89: pings, links, previews.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from eyes import read
from places import CHAT, FORUM, TEAM
from stages import stage
from world import Bench

if TYPE_CHECKING:
    from pathlib import Path

    from endpoint import Answer
    from stages import Stage

    from hermes_bot.simulator import Entry

each_chat = pytest.mark.parametrize("platform", CHAT)

WRITTEN = [
    ("a < b && c > d", "a < b && c > d"),
    ("&lt;", "&lt;"),
    ("&amp;amp; and &copy;", "&amp;amp; and &copy;"),
    ("List<String>", "List<String>"),
    ("<b>no tag</b> <script>x</script>", "<b>no tag</b> <script>x</script>"),
    ("2 * 3 * 4", "2 * 3 * 4"),
    ("snake_case_name and __init__.py", "snake_case_name"),
    ("***both***", "both"),
    ("**bold** and _thin_ and ~~gone~~", "bold and thin and gone"),
    ("`a < b && *c*`", "a < b && *c*"),
    ("5 > 3 and `x`*y", "5 > 3 and x*y"),
    ("\\*not bold\\*", "*not bold*"),
    ("~ 5 min ~ 6 min", "~ 5 min ~ 6 min"),
    ("C:\\temp\\new", "C:\\temp\\new"),
    ("# Title\n\ntext", "Title"),
    ("100 % | 50 %", "100 % | 50 %"),
]


async def asked(it: Stage) -> Entry:
    """Ask, and return the one post of the answer."""
    thread = await it.mention("tell me")
    await it.heard(thread)
    await it.settle()
    (post,) = it.everything()
    return post


@each_chat
@pytest.mark.parametrize(("source", "seen"), WRITTEN)
async def test_the_reader_sees_what_was_written(
    platform: str, source: str, seen: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [finish(source)]) as it:
        post = await asked(it)
        assert seen in read(post).words
        assert it.sim.complaints == []


LINKS = [
    "https://en.example/wiki/Set_(mathematics)",
    "https://x.example/?a=1&b=2",
    "https://x.example/a_b_c",
    "https://x.example/(x)",
    "mailto:ops@x.example",
]


@each_chat
@pytest.mark.parametrize("address", LINKS)
async def test_a_link_keeps_its_whole_address(platform: str, address: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [finish(f"see [the page]({address}).")]) as it:
        seen = read(await asked(it))
        if platform == "telegram" and address.startswith("mailto:"):  # which links to no mail address
            assert "see the page (ops@x.example)." in seen.words
        else:
            assert "see the page." in seen.words
            assert address in seen.links


TEXT = "**bold** a < b\n\n| host | load |\n|---|---|\n| db-3 | 97 % |\n\nand `code_x`"


async def on_path(it: Stage, path: str) -> list[str]:
    """Have the text posted on one path; return every form in which it is read there."""
    thread = await it.mention("tell me")
    await it.heard(thread)
    match path:
        case "closed card":
            await it.press(thread, "yes")
            await it.heard(thread, 2)
        case "report":
            await it.until(lambda: "Continue" in it.now(thread)[-1].buttons)
        case _:
            pass
    await it.settle()
    return [read(post).words for post in it.everything()]


@each_chat
@pytest.mark.parametrize("path", ["answer", "question", "card", "closed card", "report", "tool", "file"])
async def test_one_text_looks_the_same_on_every_path(platform: str, path: str, tmp_path: Path) -> None:
    bench = Bench()
    other = {"slack": "slack:T1:C2", "telegram": f"telegram:{FORUM}"}[platform]
    asks = act("request_info", question=TEXT, options=["yes", "no"])
    script: dict[str, list[Answer]] = {
        "answer": [finish(TEXT)],
        "question": [act("request_info", question=TEXT)],
        "card": [asks],
        "closed card": [asks, finish("thanks")],
        "report": [act("echo", word=TEXT)] * 3,
        "tool": [act("post_message", channel=other, text=TEXT), finish("told", evidence=["post_message"])],
        "file": [finish(f"{TEXT}\n\n" + "filler " * 3_000)],
    }
    async with stage(platform, tmp_path, script[path], tools=bench.tools()) as it:
        if platform == "telegram":
            it.sim.state.chats[TEAM].username = "the_team"
        forms = [words for words in await on_path(it, path) if "bold" in words]
        assert forms
        for words in forms:
            assert "a < b" in words
            assert "&lt;" not in words
            assert "code_x" in words
            if path != "report":  # which quotes what was done, on one line and letter by letter
                assert "bold a < b" in words
                assert "**" not in words
                assert "`" not in words
                assert "db-3" in words
                assert "|---" not in words
        assert it.sim.complaints == []


CALLS = [
    "<!channel>",
    "<!here|here>",
    "<!everyone>",
    "@here",
    "@channel and @everyone",
    "<!subteam^S1>",
    "<!subteam^S1|@ops>",
    "<@U2>",
    "<@U2|bob>",
    "<#C2|team>",
    "@bob and @my_bot",
    "/stop and /run@my_bot x",
    "[x](tg://user?id=8)",
    "[bob](tg://resolve?domain=bob)",
    "[x](javascript:alert(1))",
    "[x](file:///etc/passwd)",
    "<tg://user?id=8>",
    '<a href="tg://user?id=8">x</a>',
]
WAYS = {
    "words": "look: {} now",
    "code": "look: `{}` now",
    "fence": "look:\n\n```\n{}\n```\n",
    "table": "| who |\n|---|\n| {} |\n",
    "list": "- one\n- {}\n",
    "bold": "look: **{}** now",
}
FAKE = ("javascript:", "file:", "tg:")


@each_chat
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_in_an_answer_or_a_card_calls_anybody(platform: str, way: str, tmp_path: Path) -> None:
    text = "\n\n".join(WAYS[way].format(call) for call in CALLS)
    script = [act("request_info", question=text, options=["yes", "no"]), finish(text), finish(text)]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention("tell me")
        await it.heard(thread)
        await it.press(thread, "yes")  # the card is shown again, with who chose what
        await it.heard(thread, 2)
        await it.mention("tell me")
        await it.until(lambda: len(it.everything()) > 2)
        await it.settle()
        for post in it.everything():
            seen = read(post)
            assert seen.live == [], post.text
            assert [link for link in seen.links if link.startswith(FAKE)] == [], post.text
        assert it.sim.complaints == []


@each_chat
@pytest.mark.parametrize("verb", ["runs", "why", "status", "questions"])
async def test_what_people_wrote_calls_nobody_when_a_command_shows_it_again(
    platform: str, verb: str, tmp_path: Path
) -> None:
    said = "tell @here <!channel> @bob /stop [x](tg://user?id=8) **b** a < b"
    script = [act("now"), act("request_info", question=f"Sure: {said}?", options=["yes", "no"])]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention(said)
        await it.heard(thread)
        told = await it.verb(verb, thread=thread)
        assert told
        await it.settle()
        shown = [post for post in it.sim.ledger.entries if post.from_bot or post.only_for]
        for post in shown:
            assert read(post).live == [], post.text


@each_chat
async def test_a_picture_from_elsewhere_is_not_fetched_and_its_address_is_no_link(
    platform: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [finish("look ![x](https://e.example/?d=SECRET) here")]) as it:
        post = await asked(it)
        assert read(post).links == []
        assert "image" not in str(post.raw.get("blocks", ""))
        assert "here" in read(post).words


@each_chat
@pytest.mark.parametrize(
    "link",
    [
        "[x](https://e.example/?d={})",
        "https://e.example/?d={}",
        "[x](https://e.example/{})",
        "<https://e.example/?d={}>",
        "[x](https://e.example/#{})",
    ],
)
@pytest.mark.parametrize(
    "key", ["q7Rk2bX9vLm4Tz8Yw1NcPd5e", "c2VjcmV0IGtleSBvZiBjaGVja291dA==", "QWERTYSHOUTED9876KEYABCD"]
)
async def test_a_link_that_carries_data_of_a_result_is_no_link(
    platform: str, key: str, link: str, tmp_path: Path
) -> None:
    bench = Bench()
    script = [act("echo", word=f"the key is {key}"), finish(f"see {link.format(key)}", evidence=["echo"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        post = await asked(it)
        assert read(post).links == []
        assert "see" in read(post).words


@each_chat
async def test_previews_are_off_on_every_call_that_shows_text(platform: str, tmp_path: Path) -> None:
    script = [
        finish("see https://a.example/x"),
        act("request_info", question="https://a.example/y?", options=["yes", "no"]),
        finish("https://a.example/z"),
    ]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention("one")
        await it.heard(thread)
        thread = await it.mention("two")
        await it.heard(thread)
        await it.press(thread, "yes")
        await it.heard(thread, 2)
        await it.settle()
        shown: list[Any] = [
            call.args
            for call in it.sim.calls
            if call.method in ("chat.postMessage", "sendMessage", "editMessageText")
        ]
        assert shown
        for args in shown:
            if platform == "slack":
                assert (args["unfurl_links"], args["unfurl_media"]) == (False, False)
            else:
                assert "true" in str(args["link_preview_options"]).lower()
