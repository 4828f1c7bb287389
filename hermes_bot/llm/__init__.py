"""Knows the model's endpoint: the openai client behind ``ports.Model``.

Importing it loads the openai client (0.4 s), so only ``app.py`` does, and only where ``[model]`` is set.
"""

from hermes_bot.llm.model import EndpointModel

__all__ = ["EndpointModel"]
