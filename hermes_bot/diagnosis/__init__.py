"""Log diagnosis: what went wrong in some log files, from when on, on which lines, and what helps.

The way, one file a step: ``sources`` (paths to lines) → ``records`` with ``stamps``, ``levels`` and
``fields`` (lines to messages) → ``templates`` with ``masks`` and ``rules`` (messages that say the same, and
what is known about them) → ``findings`` with ``bursts`` (what changed, ranked) → ``advice`` → ``report`` with
``quotes``, and ``exhibits`` for all that lies behind it. ``pipeline`` walks it. ``demo`` knows the example
system that ships along.

Reports go another way: ``counting`` counts what looks bad by what it says, the same on every day, ``digest``
and ``weeks`` compare that with the time before.

Log text is data on the whole way: it is counted, quoted and shown in code spans, never followed.
"""

from hermes_bot.diagnosis.advice import advise
from hermes_bot.diagnosis.demo import DemoService, DemoSystem, load_demo
from hermes_bot.diagnosis.exhibits import exhibits_dict
from hermes_bot.diagnosis.pipeline import analyse, diagnose, exhibit, last_deploy, select
from hermes_bot.diagnosis.report import render_report, report_dict
from hermes_bot.diagnosis.selection import LogQuery, LogSelection
from hermes_bot.diagnosis.values import Advice, Finding, Findings, Place, Quote, Report

__all__ = [
    "Advice",
    "DemoService",
    "DemoSystem",
    "Finding",
    "Findings",
    "LogQuery",
    "LogSelection",
    "Place",
    "Quote",
    "Report",
    "advise",
    "analyse",
    "diagnose",
    "exhibit",
    "exhibits_dict",
    "last_deploy",
    "load_demo",
    "render_report",
    "report_dict",
    "select",
]
