"""hermes_bot: a chat-bot daemon for teams that loses nothing, does nothing twice, and shows its work."""

__version__ = "0.1.0"
