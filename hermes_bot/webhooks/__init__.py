"""Knows webhooks: signed events of other programs, each taken once, that become tasks in a channel."""
