"""What can be read of any update: nothing breaks, nothing a person wrote is lost."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_telegram.reading import Me, files_of, hear, quoted, reply_of
from hermes_telegram.units import units
from hermes_telegram.wire import Malformed, Message, read_update

ME = Me(42, "my_bot", frozenset({"run", "save-skill"}))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
KINDS = st.sampled_from(["mention", "bot_command", "text_mention", "code", "url", "text_link", "of_tomorrow"])
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False)
JUNK = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=4), SCALARS, max_size=3)
PARTS = ("", "chat", "from", "reply_to_message", "document", "sender_chat")
IN_MESSAGE = [
    "message_id",
    "date",
    "chat",
    "from",
    "sender_chat",
    "text",
    "entities",
    "caption",
    "caption_entities",
    "photo",
    "document",
]
OTHERS = [
    "id",
    "type",
    "is_bot",
    "first_name",
    "file_id",
    "file_size",
    "message_thread_id",
    "is_topic_message",
    "edit_date",
]
FIELDS = st.sampled_from([*IN_MESSAGE, *OTHERS, "reply_to_message", "migrate_to_chat_id"])


def said(text: str, entities: list[dict[str, Any]], chat: str = "supergroup") -> Message:
    message = {
        "message_id": 11,
        "date": 1_767_225_600,
        "chat": {"id": -1001, "type": chat, "title": "Team"},
        "from": {"id": 7, "is_bot": False, "first_name": "Ann"},
        "text": text,
        "entities": entities,
    }
    return Message.model_validate(message)


@given(before=TEXTS, after=TEXTS)
def test_a_mention_anywhere_is_cut_out_and_every_other_word_stays(before: str, after: str) -> None:
    mention = {"type": "mention", "offset": units(before), "length": 7}
    heard = hear(said(f"{before}@my_bot{after}", [mention]), ME)
    assert heard is not None
    assert heard.addressed
    kept = "".join(heard.text.split()).strip(",:;")
    assert kept.replace(",", "") == "".join(f"{before}{after}".split()).strip(",:;").replace(",", "")


@given(text=TEXTS, entities=st.lists(st.tuples(KINDS, st.integers(0, 200), st.integers(0, 200)), max_size=4))
def test_entities_that_make_no_sense_break_nothing(text: str, entities: list[tuple[str, int, int]]) -> None:
    marks = [{"type": kind, "offset": offset, "length": length} for kind, offset, length in entities]
    for chat in ("private", "supergroup", "channel"):
        hear(said(text, marks, chat), ME)


@given(text=TEXTS)
def test_a_text_without_entities_is_read_as_it_was_written(text: str) -> None:
    heard = hear(said(text, [], "private"), ME)
    assert (heard is None) == (not text.strip())
    assert heard is None or heard.text == text


@given(st.lists(st.tuples(st.sampled_from(PARTS), FIELDS, JUNK), min_size=1, max_size=3))
def test_an_update_with_broken_fields_is_read_or_malformed(breaks: list[tuple[str, str, Any]]) -> None:
    author = {"id": 7, "is_bot": False, "first_name": "Ann"}
    chat = {"id": -1001, "type": "supergroup", "title": "Team"}
    reply = {"message_id": 10, "date": 1_767_225_600, "chat": chat, "from": author, "text": "before"}
    message: dict[str, Any] = {**reply, "message_id": 11, "reply_to_message": reply, "sender_chat": chat}
    message["document"] = {"file_id": "F", "file_name": "a.txt"}
    for part, name, junk in breaks:
        target = message.get(part, {}) if part else message
        if isinstance(target, dict):
            broken = {**target, name: junk}
            message = {**message, part: broken} if part else broken
    with suppress(Malformed):
        read = read_update({"update_id": 1, "message": message}).message
        if read is not None:
            hear(read, ME)
            reply_of(read)
            quoted(read, ME)
            files_of(read)
