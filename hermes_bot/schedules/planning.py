"""Knows the chain behind ``schedule add`` and "every weekday at 9 …": read, said back, confirmed, stored."""

from __future__ import annotations

from pathlib import Path

from hermes_bot.skills.chain import Chain, Parameter, Step, ToolWork
from hermes_bot.skills.registry import Skill

SCHEDULE, WISH = "schedule", "wish"
PLAN_TOOL, ADD_TOOL = "plan_schedule", "add_schedule"
_PASSED = ("when", "task", "skill", "params", "channels", "name", "zone", "profile", "options")
_REPORT = """{% if not planned.ok %}Nothing was stored. {{ planned.error.message }}
{% elif created.ok %}{{ created.data.say }}
{{ planned.data.warning }}
{% elif created.error.code == "refused" %}Cancelled: nothing was stored.
{% else %}Not created, nothing was stored. {{ created.error.message }}
{% endif %}"""

SCHEDULING = Skill(
    name=SCHEDULE,
    description="Plans a skill or a task for later, once whoever asked for it has confirmed it.",
    folder=Path(),
    chain=Chain(
        parameters=(
            Parameter(
                WISH,
                is_required=True,
                ask="What shall I do, and when? For example: weekdays at 9 run error-digest",
            ),
        ),
        steps=(
            Step(
                "planned",
                ToolWork(PLAN_TOOL, {WISH: f"{{{{ {WISH} }}}}"}),
                on_error="continue",
                status="reading what is to be planned…",
                is_told=True,
            ),
            Step(
                "created",
                ToolWork(ADD_TOOL, {name: f"{{{{ planned.data.{name} }}}}" for name in _PASSED}),
                when="planned.ok",
                on_error="continue",
                status="storing it…",
                is_told=True,
            ),
        ),
        report=_REPORT,
        report_name="its report",
    ),
)
"""The program's own chain: it is found by name and in no list."""
