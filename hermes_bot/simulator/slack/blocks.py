"""Knows what Slack refuses in blocks (https://docs.slack.dev/reference/block-kit/blocks)."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.elements import LONGEST_ID, LONGEST_URL, PLAIN, Checker
from hermes_bot.simulator.slack.site import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Block = dict[str, Any]

MOST_BLOCKS = 50
LONGEST_BLOCKS = 13_200  # characters of all blocks of a message
LONGEST_MARKDOWN = 12_000  # characters of all its markdown blocks
LONGEST_SECTION = 3000
LONGEST_FIELD = 2000
LONGEST_HEADER = 150
LONGEST_ALT = 2000
MOST_ROWS, MOST_COLUMNS = 100, 20
MOST_ATTACHMENTS = 100

# what a block may hold beside ``type`` and ``block_id``; None: whatever it likes, it is not looked into
KEYS: dict[str, frozenset[str] | None] = {
    "section": frozenset({"text", "fields", "accessory", "expand"}),
    "divider": frozenset(),
    "image": frozenset({"image_url", "slack_file", "alt_text", "title"}),
    "actions": frozenset({"elements"}),
    "context": frozenset({"elements"}),
    "context_actions": frozenset({"elements"}),
    "header": frozenset({"text", "level"}),
    "markdown": frozenset({"text"}),
    "table": frozenset({"rows", "column_settings"}),
    "data_table": frozenset({"rows", "page_size", "caption", "row_header_column_index"}),
    "rich_text": frozenset({"elements"}),
    "input": None,
    "file": None,
    "call": None,
    "video": None,
    "task_card": None,
    "plan": None,
    "alert": None,
    "card": None,
    "container": None,
    "carousel": None,
}
DELIMITER_ROW = re.compile(r"^\s{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")


def buttons_of(blocks: list[Block]) -> list[dict[str, Any]]:
    """Return every element of the blocks that can be pressed, in order."""
    return [
        {
            "label": element["text"]["text"] if element["type"] == "button" else "",
            "action": element["action_id"],
            "value": element.get("value", ""),
            "block": block.get("block_id", ""),
            "style": element.get("style", ""),
            "kind": element["type"],
            "element": element,
        }
        for block in blocks
        for element in _elements(block)
        if element.get("action_id")
    ]


def named(blocks: list[Block]) -> list[Block]:
    """Return the blocks, each with the ids that Slack gives where the app gave none."""
    return [_named(block, at) for at, block in enumerate(blocks)]


def check_message(blocks: list[Any], is_usable: Callable[[str], bool]) -> None:
    """Refuse blocks that a message may not have.

    Args:
        blocks: as they were sent.
        is_usable: whether a file, by its id, can be shown in a block.

    Raises:
        Refusal: says which block, and what is wrong with it.
    """
    if not blocks:
        return
    check = Checker()
    if len(blocks) > MOST_BLOCKS:
        raise Refusal("msg_blocks_too_many", f"[ERROR] no more than {MOST_BLOCKS} items allowed")
    for at, block in enumerate(blocks):
        _check(check, block, f"/blocks/{at}", is_usable)
    _check_ids(check, blocks)
    _check_markdown(check, blocks)
    if check.problems:
        raise Refusal("invalid_blocks", *check.problems)
    if sum(_tables(block) for block in blocks) > 1:
        raise Refusal("invalid_attachments", "only_one_table_allowed")
    if sum(len(text) for block in blocks for text in _texts(block)) > LONGEST_BLOCKS:
        raise Refusal("msg_blocks_too_long")


def check_attachments(attachments: list[Any], is_usable: Callable[[str], bool]) -> None:
    """Refuse attachments that a message may not have.

    Raises:
        Refusal: there are too many, or the blocks in one are refused.
    """
    if len(attachments) > MOST_ATTACHMENTS:
        raise Refusal("too_many_attachments")
    for attachment in attachments:
        if not isinstance(attachment, dict):
            raise Refusal("invalid_attachments")
        check_message(attachment.get("blocks", []), is_usable)


def tables_in(markdown: str) -> int:
    """Return how many tables a Markdown text has, those in code not counted."""
    tables, fence, before = 0, "", ""
    for line in markdown.splitlines():
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif "|" in before and "-" in line and DELIMITER_ROW.match(line):
            tables += 1
        before = line
    return tables


def _check(check: Checker, value: Any, path: str, is_usable: Callable[[str], bool]) -> None:
    block = check.object(value, path)
    kind = str(block.get("type"))
    if kind not in KEYS:
        check.wrong(f"unsupported type: {kind}", f"{path}/type")
        return
    if "block_id" in block:
        check.string(block["block_id"], f"{path}/block_id", LONGEST_ID)
    if (known := KEYS[kind]) is not None:
        check.only(block, known | {"type", "block_id"}, path)
    match kind:
        case "section":
            _section(check, block, path)
        case "header":
            check.text(block.get("text"), f"{path}/text", LONGEST_HEADER, PLAIN)
        case "markdown":
            check.string(block.get("text"), f"{path}/text", LONGEST_MARKDOWN)
        case "actions" | "context_actions" | "context" | "rich_text":
            _many(check, block, path)
        case "image":
            _image(check, block, path, is_usable)
        case "table" | "data_table":
            _table(check, block, path)
        case _:
            pass


def _section(check: Checker, block: Block, path: str) -> None:
    if "text" not in block and "fields" not in block:
        check.wrong("missing required field: text or fields", path)
    if "text" in block:
        check.text(block["text"], f"{path}/text", LONGEST_SECTION)
    if "fields" in block:
        for at, entry in enumerate(check.items(block["fields"], f"{path}/fields", 10)):
            check.text(entry, f"{path}/fields/{at}", LONGEST_FIELD)
    if "accessory" in block:
        check.element(block["accessory"], f"{path}/accessory")


def _many(check: Checker, block: Block, path: str) -> None:
    most = {"actions": 25, "context_actions": 5, "context": 10, "rich_text": 1000}[block["type"]]
    place = f"{path}/elements"
    elements = check.items(block.get("elements"), place, most)
    for at, element in enumerate(elements):
        is_text = isinstance(element, dict) and element.get("type") in ("mrkdwn", "plain_text")
        if block["type"] == "context" and is_text:
            check.text(element, f"{place}/{at}", LONGEST_FIELD)
        elif block["type"] != "rich_text":
            check.element(element, f"{place}/{at}")
    ids = Counter(str(e["action_id"]) for e in elements if isinstance(e, dict) and e.get("action_id"))
    for action, times in ids.items():
        if times > 1:
            check.wrong(f"duplicate action_id: {action}", place)


def _image(check: Checker, block: Block, path: str, is_usable: Callable[[str], bool]) -> None:
    check.string(block.get("alt_text"), f"{path}/alt_text", LONGEST_ALT)
    if "slack_file" in block:
        file = str(check.object(block["slack_file"], f"{path}/slack_file").get("id", ""))
        if not is_usable(file):
            check.wrong("invalid slack file", f"{path}/slack_file")
    else:
        check.string(block.get("image_url"), f"{path}/image_url", LONGEST_URL)


def _table(check: Checker, block: Block, path: str) -> None:
    is_data = block["type"] == "data_table"
    rows = check.items(
        block.get("rows"), f"{path}/rows", MOST_ROWS + 1 if is_data else MOST_ROWS, 2 if is_data else 1
    )
    if is_data and not block.get("caption"):
        check.wrong("missing required field: caption", path)
    for at, row in enumerate(rows):
        place = f"{path}/rows/{at}"
        for column, cell in enumerate(check.items(row, place, MOST_COLUMNS)):
            found = check.object(cell, f"{place}/{column}")
            if found.get("type") == "raw_text":
                check.string(found.get("text"), f"{place}/{column}/text", LONGEST_SECTION)
            elif found and found.get("type") not in ("rich_text", "raw_number"):
                check.wrong(f"unsupported type: {found.get('type')}", f"{place}/{column}/type")


def _check_ids(check: Checker, blocks: list[Any]) -> None:
    ids = Counter(str(b["block_id"]) for b in blocks if isinstance(b, dict) and b.get("block_id"))
    for name, times in ids.items():
        if times > 1:
            check.wrong(f"duplicate block_id: {name}", "/blocks")


def _check_markdown(check: Checker, blocks: list[Any]) -> None:
    marked = [b for b in blocks if isinstance(b, dict) and b.get("type") == "markdown"]
    if len(marked) > 1 and sum(len(str(b.get("text", ""))) for b in marked) > LONGEST_MARKDOWN:
        check.wrong(f"must be less than {LONGEST_MARKDOWN + 1} characters in all markdown blocks", "/blocks")


def _tables(block: Block) -> int:
    if block["type"] == "markdown":
        return tables_in(block["text"])
    return int(block["type"] in ("table", "data_table"))


def _texts(value: Any) -> Iterator[str]:
    """Yield every text that is shown, however deep it is."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "text" and isinstance(item, str):
                yield item
            else:
                yield from _texts(item)


def _elements(block: Block) -> list[dict[str, Any]]:
    if block["type"] == "section":
        return [block["accessory"]] if "accessory" in block else []
    return list(block["elements"]) if block["type"] in ("actions", "context_actions") else []


def _named(block: Block, at: int) -> Block:
    made: Block = {"block_id": f"b{at}", **block}
    if block["type"] in ("actions", "context_actions"):
        made["elements"] = [
            {"action_id": f"b{at}e{n}", **element} for n, element in enumerate(block["elements"])
        ]
    if block["type"] == "section" and "accessory" in block:
        made["accessory"] = {"action_id": f"b{at}a", **block["accessory"]}
    return made
