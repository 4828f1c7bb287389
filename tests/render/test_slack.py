"""How posts look on Slack: answers, cards with buttons, plain text in need (B-42, B-85, B-87, B-89)."""

from __future__ import annotations

import json

from render.readers import Mrkdwn, read_markdown, seen, tables

from hermes_bot.messages import Attachment, Button, Outgoing, Press, ThreadKey
from hermes_slack import render

THREAD = ThreadKey("slack", "T1", "C1", "1.1")
TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |"


def source(text: str) -> str:
    (block,) = render.payload(Outgoing("k", THREAD, text))["blocks"]
    assert block["type"] == "markdown"
    return str(block["text"])


def test_an_answer_is_one_markdown_block_and_a_fallback_text() -> None:
    shown = render.payload(Outgoing("k", THREAD, "## Result\n\n**Done** in 3 s."))
    assert shown["blocks"] == [{"type": "markdown", "text": "## Result\n\n**Done** in 3 s."}]
    assert shown["text"] == "*Result*\n\n*Done* in 3 s."


def test_nothing_unfurls_and_no_name_is_linked() -> None:
    message = Outgoing("k", THREAD, "x")
    for shown in (render.payload(message), render.plain(message)):
        quiet = {key: shown[key] for key in ("parse", "link_names", "unfurl_links", "unfurl_media")}
        assert quiet == {"parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}


def test_a_question_is_a_section_its_buttons_and_a_hint_below_them() -> None:
    buttons = tuple(
        Button(label, Press("q-8f", index)) for index, label in enumerate(("This week", "Last week"))
    )
    text = "**Which week?**\n\n_Choose one, or reply here._"
    section, actions, context = render.payload(Outgoing("k", THREAD, text, "question", buttons))["blocks"]
    assert section == {"type": "section", "text": {"type": "mrkdwn", "text": "*Which week?*"}}
    assert [element["action_id"] for element in actions["elements"]] == ["press:0", "press:1"]
    assert [element["value"] for element in actions["elements"]] == ["q-8f|0", "q-8f|1"]
    assert [element["text"]["text"] for element in actions["elements"]] == ["This week", "Last week"]
    assert context["elements"] == [{"type": "mrkdwn", "text": "_Choose one, or reply here._"}]


def test_what_ends_a_run_is_red_and_what_goes_on_is_not() -> None:
    report = (
        Button("Continue", Press("c-7f", 0)),
        Button("Stop", Press("c-7f", 1)),
        Button("Stop", Press("s-7f", 0)),
    )
    _, actions = render.payload(Outgoing("k", THREAD, "Stopped.", "report", report))["blocks"]
    assert [element.get("style") for element in actions["elements"]] == ["primary", "danger", "danger"]
    _, asked = render.payload(Outgoing("k", THREAD, "Which?", "question", (Button("A", Press("q", 0)),)))[
        "blocks"
    ]
    assert "style" not in asked["elements"][0]


def test_a_long_label_is_cut_between_graphemes() -> None:
    buttons = (Button("👩‍👩‍👧" * 20, Press("q", 0)), Button(" ", Press("q", 1)))
    _, actions = render.payload(Outgoing("k", THREAD, "Which?", "question", buttons))["blocks"]
    first, second = (element["text"]["text"] for element in actions["elements"])
    assert first == "👩‍👩‍👧" * 14 + "…"
    assert second == "2"


def test_a_card_shows_its_argument_with_its_marks_escaped() -> None:
    argument = "`a` *b* _c_ <d> <!channel>"
    text = f"Run `restart` with\n\n```\n{argument}\n```"
    buttons = (Button("Approve", Press("a-1", 0)), Button("Deny", Press("a-1", 1)))
    section, _ = render.payload(Outgoing("k", THREAD, text, "question", buttons))["blocks"]
    read = Mrkdwn(section["text"]["text"])
    assert read.code == [argument]
    assert read.tokens == []


def test_a_card_that_is_too_long_has_the_whole_attached() -> None:
    argument = "\n".join(f"line {number} of the argument" for number in range(400))
    text = f"Run `restart` with\n\n```\n{argument}\n```\n\nApprove?"
    file, card = render.parts(Outgoing("k", THREAD, text, "question", (Button("Approve", Press("a-1", 0)),)))
    assert [one.text for one in file.files] == [argument + "\n"]
    assert card.buttons
    assert file.files[0].name in card.text


def test_a_second_table_is_aligned_text_since_slack_takes_one() -> None:
    text = source(f"{TABLE}\n\nand\n\n{TABLE}")
    assert tables(text) == 1
    assert text.endswith("```\na | b\n--+--\n1 | 2\n```")


def test_the_numbers_of_rows_and_columns_that_slack_shows_are_tables_and_more_are_a_file() -> None:
    rows = "| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 50
    (post,) = render.parts(Outgoing("k", THREAD, rows))
    assert tables(source(post.text)) == 1
    file, post = render.parts(Outgoing("k", THREAD, "Errors by service:\n\n" + rows + "| 1 | 2 |\n"))
    assert (file.files[0].name, file.files[0].about) == ("errors-by-service.csv", "51 rows, 2 columns: a, b")
    assert file.files[0].text.splitlines() == ["a,b", *["1,2"] * 51]
    assert "errors-by-service.csv" in post.text


def test_mentions_are_dead_in_text_code_and_tables() -> None:
    text = (
        "<!channel> @here <!subteam^S1> <@U2> `<@U2> @everyone`\n\n```\n<!here> <!date^1^{date}|x>\n```\n\n"
    )
    text += "| <#C1> | @channel |\n|---|---|\n| <@W3|ann> | `<!everyone>` |"
    shown = source(text)
    read = seen(read_markdown(shown))
    for call in (
        "<!channel>",
        "@here",
        "<!subteam^S1>",
        "<@U2>",
        "<!here>",
        "@everyone",
        "<!date^1^{date}|x>",
        "<#C1>",
    ):
        assert call not in shown
        assert call in read
    assert Mrkdwn(render.mrkdwn(text)).tokens == []
    assert "<" not in render.plain(Outgoing("k", THREAD, text))["text"]


def test_html_and_comments_in_code_stay_as_they_were_written() -> None:
    code = "<!DOCTYPE html>\n<!-- here -->\n<a href='x'>&amp;</a>\n@decorator"
    assert source(f"```html\n{code}\n```") == f"```html\n{code}\n```"


def test_the_plain_form_is_the_source_with_its_choices_numbered() -> None:
    buttons = (Button("Yes & no", Press("q", 0)), Button("No", Press("q", 1)))
    sent = render.plain(Outgoing("k", THREAD, "**Which** `x < y`?", "question", buttons))
    assert sent["text"] == "**Which** `x &lt; y`?\n\n1. Yes &amp; no\n2. No"
    assert "blocks" not in sent


def test_a_files_comment_says_what_it_shows_and_whether_it_may_be_there_twice() -> None:
    file = Attachment("a_b.png", path="/nowhere/a_b.png", about="Runs per *week* <20>")
    assert (
        seen(Mrkdwn(render.comment(Outgoing("k", THREAD, "", files=(file,)))).text) == "Runs per *week* <20>"
    )
    again = render.comment(Outgoing("k", THREAD, "", files=(file,), is_again=True))
    assert "twice" in again


def test_a_payload_is_json() -> None:
    buttons = (Button("A", Press("q", 0)),)
    message = Outgoing("k", THREAD, f"# x\n\n{TABLE}\n\n- a\n\n> b", "question", buttons)
    assert json.loads(json.dumps(render.payload(message))) == render.payload(message)
