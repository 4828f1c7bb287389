"""Reads the made-up secrets of the shared cases, joined at the last moment."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from sharedcases import SHARED

FILE = SHARED / "cases" / "security" / "secrets.json"


@dataclass(frozen=True)
class Told:
    """One text with a secret in it.

    Attributes:
        own: the program's own secret, where it is one.
        forms: what must be seen nowhere.
        stays: what must still be there.
    """

    name: str
    text: str
    own: str
    forms: tuple[str, ...]
    stays: tuple[str, ...]


def told() -> list[Told]:
    """Return every text; none where the shared cases are not here."""
    if not FILE.exists():
        return []
    found = []
    for case in json.loads(FILE.read_text())["cases"]:
        secret = "".join(case["parts"])
        in_base64 = base64.b64encode(secret.encode()).decode()
        in_address = "".join(f"%{byte:02X}" for byte in secret.encode())
        for number, text in enumerate(case["texts"]):
            full = text.replace("{s}", secret).replace("{b64}", in_base64).replace("{url}", in_address)
            forms = (secret, json.dumps(secret)[1:-1], in_base64, in_address, *case.get("gone", ()))
            stays = tuple(word for word in case.get("must_stay", ()) if word in full)
            own = secret if case["known"] else ""
            found.append(Told(f"{case['id']}-{number}", full, own, forms, stays))
    return found


def harmless() -> list[str]:
    """Return the lines that come out unchanged."""
    return [line["text"] for line in json.loads(FILE.read_text())["harmless"]] if FILE.exists() else []
