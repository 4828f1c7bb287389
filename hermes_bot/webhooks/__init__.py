"""Knows how other programs tell the bot of something: signed over HTTP, once, and into one thread.

``door`` is the server, ``signing`` says who may, ``payloads`` what a body tells, ``taking`` what becomes of
it; ``wording`` is how people read it. ``keeping`` has all of that go on.
"""

from hermes_bot.webhooks.keeping import Hooks

__all__ = ["Hooks"]
