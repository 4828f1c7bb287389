"""Knows SQLite: one connection in one thread, numbered migrations, one file of named queries per table.

The query functions take the connection that ``Database.transact`` and ``Database.read`` hand to a work; they
take and return frozen values and know nothing of the loop.
"""
