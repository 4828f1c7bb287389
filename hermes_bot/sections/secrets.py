"""Knows which secrets there are; none of them stands in ``hermes.toml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr


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
    webhooks: dict[str, SecretStr] = Field(default_factory=dict)  # of webhooks, by variable
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
