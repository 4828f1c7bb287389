"""Knows schedules: rows are the truth, ``fire_due`` does the work, and something wakes it (design §11).

A due moment becomes a claimed row and the task of a run in one transaction; from there it goes the way of
every message. What became of the work, and of the report in each place, is settled from the stored rows.
"""
