"""Knows how to look for a pattern in texts, as a process of its own that can be killed.

Reads ``{"pattern", "texts": [[name, text]], "hits", "chars"}`` from standard input and writes
``{"hits": [[name, line, text]]}`` or ``{"problem"}``. It is started by file and imports nothing of ours.
"""

import json
import re
import resource
import sys
from collections.abc import Iterator
from typing import Any

_MEMORY = 1024 * 1024 * 1024
_CPU_SECONDS = 10


def main() -> None:
    """Answer one request; the limits hold for this process alone."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    asked = json.load(sys.stdin)
    try:
        pattern = re.compile(asked["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        answer: dict[str, Any] = {"problem": str(error)}
    else:
        found = _found(pattern, asked["texts"])
        answer = {"hits": [hit for hit, _ in zip(found, range(asked["hits"]), strict=False)]}
        for hit in answer["hits"]:
            hit[2] = hit[2][: asked["chars"]]
    json.dump(answer, sys.stdout)


def _found(pattern: "re.Pattern[str]", texts: list[list[str]]) -> Iterator[list[Any]]:
    for name, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                yield [name, number, line]


if __name__ == "__main__":
    main()
