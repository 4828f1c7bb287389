"""Knows Slack as a platform."""
