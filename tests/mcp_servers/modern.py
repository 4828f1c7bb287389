"""A server of the protocol's modern form (2026-07-28), made with the library; tests run it as a program."""

from typing import Annotated

from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("modern")


class Where(BaseModel):
    """What the server asks for."""

    where: str


def ask(version: str) -> Elicit[Where]:
    """Ask where a version shall go."""
    return Elicit(f"Where shall {version} go?", Where)


@server.tool()
def deploy(version: str, where: Annotated[Where, Resolve(ask)]) -> str:
    """Deploy a version somewhere."""
    return f"{version} to {where.where}"


if __name__ == "__main__":
    server.run()
