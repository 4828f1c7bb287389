"""Knows the tools: how one is declared, the door they all stand behind, and those of the core."""
