"""Knows which parts of a text are secrets, and what stands in their place. Pure.

Two ways find them: *known values*, which the program loaded itself, wherever and however encoded they stand;
and *shapes*, what such things look like or what the field before them is called.
"""

from hermes_bot.redaction.redactor import REMOVED, Redactor
from hermes_bot.redaction.vault import Vault, Withheld, holds_mask

__all__ = ["REMOVED", "Redactor", "Vault", "Withheld", "holds_mask"]
