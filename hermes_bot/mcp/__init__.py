"""Knows MCP servers: how they are kept connected, what of their tools may be used, and how they are called.

``servers`` is the way in, and light; ``connection`` and what it needs import the library, which takes half a
second, and only where a server is configured.
"""
