"""Skills: a folder with SKILL.md, and a fixed chain where there is one.

The way, one file a step: ``registry`` reads the folders, ``reading`` their chain.yaml into the values of
``chain``; ``runner`` fills the parameters (``params`` with ``naming``) and walks the ``steps`` with what the
``bench`` has in hand; ``templates`` fill in arguments and reports, ``attaching`` the files that go with a
report. ``check`` looks at all of it beforehand. ``recording`` and ``drafting`` make the draft of one from a
finished run, ``saving`` puts it into a folder.
"""

from hermes_bot.skills.chain import Chain, Parameter, Step
from hermes_bot.skills.check import Bed, Trouble, check, scaffold
from hermes_bot.skills.drafting import Draft, draft
from hermes_bot.skills.params import Filled, Words, fill, question_for
from hermes_bot.skills.registry import Refusal, Registry, Skill, read_registry
from hermes_bot.skills.runner import (
    RUN_SKILL_SCHEMA,
    RUN_SKILL_SUMMARY,
    Runner,
    Setting,
    run_chain,
    run_skill_summary,
)

__all__ = [
    "RUN_SKILL_SCHEMA",
    "RUN_SKILL_SUMMARY",
    "Bed",
    "Chain",
    "Draft",
    "Filled",
    "Parameter",
    "Refusal",
    "Registry",
    "Runner",
    "Setting",
    "Skill",
    "Step",
    "Trouble",
    "Words",
    "check",
    "draft",
    "fill",
    "question_for",
    "read_registry",
    "run_chain",
    "run_skill_summary",
    "scaffold",
]
