"""Knows how the configuration becomes parts: skills, tools, the model, adapters."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from hermes_bot.errors import ConfigError
from hermes_bot.loop.context import Frame
from hermes_bot.offline import OfflineModel, SkillCard, match_skill
from hermes_bot.plugins import ADAPTERS, TOOLS, demo_dir, discover, skills_dir
from hermes_bot.runs.lifecycle import Hands
from hermes_bot.skills import RUN_SKILL_SCHEMA, RUN_SKILL_SUMMARY, Runner, read_registry
from hermes_bot.tools.catalog import catalog_of
from hermes_bot.tools.core import core_tools
from hermes_bot.tools.declare import Tool
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from hermes_bot.config import Config
    from hermes_bot.messages import Json, Result
    from hermes_bot.ports import Adapter, Clock, Model, ToolContext
    from hermes_bot.skills import Registry
    from hermes_bot.state import Question
