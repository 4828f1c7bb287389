"""Knows every section of ``hermes.toml``: its keys, their types and defaults."""

from pydantic import Field

from hermes_bot.sections.mcp import Mcp, McpServer, mcp_token_variable
from hermes_bot.sections.people import (
    Access,
    Adapters,
    Approval,
    Approvals,
    Pacing,
    SlackSection,
    TelegramSection,
)
from hermes_bot.sections.planned import Http, Named, ScheduleSection, WebhookSection, webhook_variable
from hermes_bot.sections.reach import (
    Files,
    InnerHost,
    Logs,
    LogSource,
    SandboxSection,
    Search,
    Sql,
    SqlSource,
    Web,
)
from hermes_bot.sections.reports import Health, HealthCheck, SqlReport
from hermes_bot.sections.running import (
    Bot,
    Budgets,
    Endpoint,
    Figures,
    Journal,
    MemorySection,
    ModelSection,
    Price,
    Profile,
    Skills,
)
from hermes_bot.sections.secrets import Secrets
from hermes_bot.sections.section import Section

__all__ = [
    "Access",
    "Adapters",
    "Approval",
    "Approvals",
    "Bot",
    "Budgets",
    "Endpoint",
    "Figures",
    "Files",
    "Health",
    "HealthCheck",
    "Http",
    "InnerHost",
    "Journal",
    "Keys",
    "LogSource",
    "Logs",
    "Mcp",
    "McpServer",
    "MemorySection",
    "ModelSection",
    "Pacing",
    "Price",
    "Profile",
    "SandboxSection",
    "ScheduleSection",
    "Search",
    "Secrets",
    "Skills",
    "SlackSection",
    "Sql",
    "SqlReport",
    "SqlSource",
    "TelegramSection",
    "Web",
    "WebhookSection",
    "mcp_token_variable",
    "webhook_variable",
]


class Keys(Section):
    """Every section that a file may have."""

    bot: Bot = Bot()
    model: ModelSection | None = None
    prices: dict[str, Price] = Field(default_factory=dict)
    profiles: dict[str, Profile] = Field(default_factory=dict)
    logs: Logs = Logs()
    files: Files = Files()
    web: Web = Web()
    sql: Sql = Sql()
    health: Health = Health()
    sandbox: SandboxSection = SandboxSection()
    budgets: Budgets = Budgets()
    skills: Skills = Skills()
    memory: MemorySection = MemorySection()
    journal: Journal = Journal()
    adapters: Adapters = Adapters()
    access: Access = Access()
    approvals: Approvals = Approvals()
    pacing: Pacing = Pacing()
    mcp: Mcp = Mcp()
    http: Http = Http()
    schedules: dict[Named, ScheduleSection] = Field(default_factory=dict)
    webhooks: dict[Named, WebhookSection] = Field(default_factory=dict)
