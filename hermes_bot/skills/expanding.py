"""Knows how a reply in a report's thread asks for one of its items, and the chain that answers it.

A report that can be asked so records its numbered items in a step's data under ``ITEMS``: a list of objects
with ``number`` and whatever else is known of ``ITEM_PARTS``. The answer comes from that record alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from hermes_bot.skills.chain import Chain, Parameter, Step, ToolWork
from hermes_bot.skills.registry import Skill

EXPAND, ITEM_TOOL = "expand-item", "report_item"
ITEMS = "report_items"
ITEM_PARTS = (
    "label",  # what it is, in a few words of ours
    "service",  # where it is from
    "text",  # what it says in full, as data: shown as code
    "facts",  # sentences of ours
    "counts",  # [when, how often] pairs
    "counts_title",  # by what they were counted: "By hour"
    "files",  # [name, how often] pairs
    "lines",  # {"file", "line", "text"}: quotes
)
HINT = "expand item"  # stands in every report whose items can be asked for

_NUMBERS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip
_ENDS = ".!?。\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}"
_CHINESE = "零一二三四五六七八九"
_POLITE = re.compile(r"^(?:please|pls|hey|can you|could you|would you)[\s,]+|[\s,]+please$")
_VERB = (
    r"(?:expand|show(?: me)?|open|unfold|explain|(?:give me )?(?:more |the )?details?(?: of| on| for| about)?"
    r"|(?:tell me )?more(?: of| on| about)?|what about)"
)
_NOUN = r"(?:item|entry|point|number|no\.?|nr\.?)"
_OPEN = r"(?:请)?(?:展开|显示|查看|看看|详细说说|说说)? ?"
_MORE = r"(?:的?(?:详情|细节))?"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:{_VERB} )?(?:the )?{_NOUN} ?#?(\d{{1,3}})",
        rf"{_VERB} (?:the )?#?(\d{{1,3}})(?:st|nd|rd|th)?(?: {_NOUN}| one)?",
        rf"(?:{_VERB} )?the (\d{{1,3}})(?:st|nd|rd|th) (?:{_NOUN}|one)",
        rf"(?:{_VERB} )?(?:the )?({'|'.join(_NUMBERS)}) {_NOUN}",
        rf"{_VERB} the ({'|'.join(_NUMBERS)})(?: one)?",
        rf"{_OPEN}第? ?(\d{{1,3}}) ?(?:条|项|个){_MORE}",
        rf"{_OPEN}第 ?([一二三四五六七八九十]{{1,3}}) ?(?:条|项|个){_MORE}",
        r"(?:请)?展开 ?(\d{1,3})",
    )
)

_REPORT = """{% if not item.data.found %}{{ item.data.say }}{% else %}
{% set it = item.data.item %}
**Item {{ number }}{{ ' of ' ~ it.service if it.service }}**{{ ': ' ~ it.label if it.label }}

{% if it.text %}
{{ it.text | fence('text') }}

{% endif %}
{% for fact in it.facts %}
- {{ fact }}
{% endfor %}
{% if it.files %}
- Files: {% for file in it.files %}
{{ file[0] | code }} ({{ file[1] | thousands }}){{ ', ' if not loop.last }}
{%- endfor %}

{% endif %}

{% if it.counts %}
**{{ it.counts_title }}**

{{ item.data.chart | fence('text') }}

{% endif %}
{% if it.lines %}
**{{ 'Its lines' if it.lines | length < 20 else 'The first and the last of its lines' }}**

{% filter fence('text') %}
{% for line in it.lines %}
{{ line.file }}:{{ line.line }}: {{ line.text }}
{% endfor %}
{% endfilter %}


{% endif %}
_As recorded for the report of {{ item.data.at }}, run {{ item.data.run }}.
{{- ' ' ~ item.data.since if item.data.since }}_
{% endif %}"""

EXPANDING = Skill(
    name=EXPAND,
    description="Shows all that the report of this thread recorded of one of its numbered items.",
    folder=Path(),
    chain=Chain(
        parameters=(Parameter("number", "integer", is_required=True, ask="Which item of the report?"),),
        steps=(
            Step(
                "item",
                ToolWork(ITEM_TOOL, {"number": "{{ number }}"}),
                status="looking up item {{ number }}…",
            ),
        ),
        report=_REPORT,
        report_name="its report",
    ),
)
"""The program's own chain behind "expand item 2": it is found by name and in no list."""


def item_asked(text: str) -> int | None:
    """Return the number of the item that a reply asks for; None for any other text."""
    plain = " ".join(text.lower().strip().rstrip(_ENDS).split())
    while (rest := _POLITE.sub("", plain)) != plain:
        plain = rest
    for form in _FORMS:
        if found := form.fullmatch(plain):
            return _number(found[1])
    return None


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    if word in _NUMBERS:
        return _NUMBERS[word]
    tens, is_ten, ones = word.rpartition("十")
    if not is_ten:
        return _CHINESE.index(word[-1])
    return 10 * (_CHINESE.index(tens) if tens else 1) + (_CHINESE.index(ones) if ones else 0)
