"""Knows how well the bot works: tasks played through the whole of it, with a model and tools that fail.

``tasks`` reads what is to be done, ``room`` makes the tools of one task, ``reading`` and ``mind`` are a fair
model that knows a right way and decides by its prompt alone, ``spoiling`` and ``faults`` break what it says
and what the tools do, ``play`` carries one task through the bot, ``score`` counts.
"""
