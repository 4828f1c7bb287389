"""The one tree of what is posted: read, written, cut and made harmless; a renderer per platform shows it.

``parse`` reads Markdown into the tree of ``tree`` and ``write`` writes it again; ``split`` cuts a text into
parts that fit, ``parts`` lays out a message with its files; ``defuse`` takes out links that must not be
clicked, by the rule that ``addresses`` states; ``quoting`` shows the words of others as code. It knows no
platform.
"""

from hermes_bot.markdown.addresses import disarm, hosts_in
from hermes_bot.markdown.defuse import defuse, safe, tamed
from hermes_bot.markdown.graphemes import clip, clip_line
from hermes_bot.markdown.layout import Room, parts
from hermes_bot.markdown.parse import clean, parse
from hermes_bot.markdown.quoting import fence, inert
from hermes_bot.markdown.split import split
from hermes_bot.markdown.write import escaped, write

__all__ = [
    "Room",
    "clean",
    "clip",
    "clip_line",
    "defuse",
    "disarm",
    "escaped",
    "fence",
    "hosts_in",
    "inert",
    "parse",
    "parts",
    "safe",
    "split",
    "tamed",
    "write",
]
