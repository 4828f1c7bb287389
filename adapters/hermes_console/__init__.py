"""The terminal as a chat platform: an adapter like any other, and the terminals that attach to it.

``adapter`` takes and posts messages; ``wire`` is the JSON between it and a terminal. On the terminal's side
``conversation`` knows what a typed line means, ``terminal`` shows it to a person and ``plain`` to a program.
"""

from hermes_console.adapter import ConsoleAdapter

__all__ = ["ConsoleAdapter"]
