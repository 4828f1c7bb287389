"""Knows Telegram as a platform."""
