"""Knows which posts a message becomes: files first, then its text in as few parts as it takes.

What is long is a file with the first lines as text: a message of over 8,000 characters or three parts, a
table that a platform cannot show, a code block that is most of a long message. Nothing is left out: what is
not in the text is in a file that the text names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes_bot.markdown import files
from hermes_bot.markdown.cut import before, best, size
from hermes_bot.markdown.parse import clean, parse
from hermes_bot.markdown.split import split
from hermes_bot.markdown.tree import (
    Break,
    Fence,
    Item,
    Listing,
    Paragraph,
    Quote,
    Table,
    Text,
    is_blank,
    merged,
    words,
)
from hermes_bot.markdown.write import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hermes_bot.markdown.tree import Block, Blocks
    from hermes_bot.messages import Attachment, Outgoing

MOST_CHARACTERS = 8_000  # platforms.md P27
MOST_PARTS = 3  # platforms.md §13.6, §28.1
SUMMARY = 600  # characters: about three lines
_CHOOSE = "Choose one."
_TOO_MUCH = 100_000  # characters: nobody looks for tables in it any more


@dataclass(frozen=True, slots=True)
class Room:
    """What a platform takes.

    Attributes:
        fits: whether what is made from a Markdown text is one post.
        shows: whether a table can be read there.
    """

    fits: Callable[[str], bool]
    shows: Callable[[Table], bool]


def parts(message: Outgoing, room: Room) -> tuple[Outgoing, ...]:
    """Return the posts of a message, in order: each of its files and then its text.

    What opens a thread begins with its text: files go into the thread, which only the text can name.

    The first answers what the message answers; the first of the text takes the place of what the message
    edits; buttons are under the last. Blank text is no part, unless there is something to choose.
    """
    pieces, made = _arranged(clean(message.text), room)
    if message.buttons and not pieces:
        pieces = (_CHOOSE,)
    bare = replace(message, text="", buttons=(), files=(), edits="")
    posts = [replace(bare, files=(file,)) for file in (*message.files, *made)]
    texts = [replace(bare, text=piece) for piece in pieces]
    if texts:
        texts[0] = replace(texts[0], edits=message.edits)
        texts[-1] = replace(texts[-1], buttons=message.buttons)
    every = (*texts, *posts) if texts and message.thread.is_new else (*posts, *texts)
    return tuple(replace(post, reply_to="") if index else post for index, post in enumerate(every))


def _arranged(text: str, room: Room) -> tuple[tuple[str, ...], tuple[Attachment, ...]]:
    """Return the texts of a message's posts, and the files that hold what is not in them."""
    if is_blank(text):
        return (), ()
    if len(text) > _TOO_MUCH:
        return _as_file(text, text, room, ())
    blocks = parse(text)
    if is_blank("".join(words(blocks))):
        return (write((_literal(text),)),), ()
    rest, lifted = _lifted(blocks, room, is_long=len(text) > MOST_CHARACTERS)
    short = write(rest) if lifted else text
    pieces = () if len(short) > MOST_CHARACTERS else numbered(short, room.fits)
    if not pieces or len(pieces) > MOST_PARTS:
        return _as_file(text, short, room, lifted)
    return pieces, lifted


def _literal(text: str) -> Paragraph:
    """Return a paragraph that shows a text as it was written, for marks that mark nothing."""
    lines = [Text(line.strip()) for line in text.strip().split("\n")]
    return Paragraph(merged(one for line in lines for one in (Break(), line))[1:])


def numbered(text: str, fits: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the parts of a text; where they are more than two, each says which of how many it is (P25)."""
    pieces = _seen(split(text, fits))
    if len(pieces) <= 2:  # noqa: PLR2004 - the rule's own figure
        return pieces
    pieces = _seen(split(text, lambda piece: fits(_marked(piece, 99, 99))))
    return tuple(_marked(piece, number, len(pieces)) for number, piece in enumerate(pieces, 1))


def _seen(pieces: Iterable[str]) -> tuple[str, ...]:
    return tuple(piece for piece in pieces if not is_blank("".join(words(parse(piece)))))


def _marked(piece: str, number: int, total: int) -> str:
    return f"{piece}\n\n_{number}/{total}_"


def _as_file(
    text: str, short: str, room: Room, lifted: tuple[Attachment, ...]
) -> tuple[tuple[str, ...], tuple[Attachment, ...]]:
    """Return the first lines of a text, and the whole of it as a file beside what was lifted out of it."""
    blocks = parse(short[: 4 * SUMMARY])
    file = files.whole(text, blocks)
    pointer = f"_The whole text, {len(text):,} characters, is in the file `{file.name}`._"
    for length in (SUMMARY, SUMMARY // 2, SUMMARY // 4):
        summary = f"{write(_head(blocks, length))}\n\n{pointer}"
        if room.fits(summary):
            return (summary,), (*lifted, file)
    return (pointer,), (*lifted, file)


def _head(blocks: Blocks, length: int) -> Blocks:
    mark = best(blocks, length)
    return before(blocks, mark.path) if mark and sum(map(size, blocks)) > length else blocks


def _lifted(blocks: Blocks, room: Room, *, is_long: bool) -> tuple[Blocks, tuple[Attachment, ...]]:
    """Return blocks in which what belongs into a file is a line that names it, and those files."""
    lifter = _Lifter(room, sum(map(size, blocks)) // 2 if is_long else None)
    return lifter.lift(blocks), tuple(lifter.files)


class _Lifter:
    """Takes out what is better read as a file.

    Attributes:
        files: what was taken out, in order.
    """

    def __init__(self, room: Room, most_code: int | None) -> None:
        self._room = room
        self._most_code = most_code
        self._title = ""
        self.files: list[Attachment] = []

    def lift(self, blocks: Sequence[Block]) -> Blocks:
        """Return blocks with a line in the place of each that was taken out."""
        return tuple(map(self._block, blocks))

    def _block(self, block: Block) -> Block:
        match block:
            case Quote(inner):
                return Quote(self.lift(inner))
            case Listing(items):
                lifted = tuple(Item(self.lift(one.blocks), one.number, one.checked) for one in items)
                return replace(block, items=lifted)
            case Table() if not self._room.shows(block):
                return self._pointer("Table", files.table(block, self._title, self._taken()))
            case Fence() if self._most_code is not None and size(block) >= self._most_code:
                return self._pointer("Code", files.code(block, self._title, self._taken()))
            case _:
                self._title = files.title_of((block,)) or self._title
                return block

    def _taken(self) -> tuple[str, ...]:
        return tuple(file.name for file in self.files)

    def _pointer(self, what: str, file: Attachment) -> Paragraph:
        self.files.append(file)
        (pointer,) = parse(f"_{what}: {file.about}, in the file `{file.name}`._")
        return pointer if isinstance(pointer, Paragraph) else Paragraph((Text(file.name),))
