"""Knows how to find a page's title and main text, as a process of its own that can be killed.

Reads ``{"html"}`` from standard input and writes ``{"title", "text"}``. It is started by file and imports
nothing of ours: the parsers under it are C code, and pages are written by anybody.
"""

import json
import resource
import sys

_MEMORY = 1024 * 1024 * 1024
_CPU_SECONDS = 15
_MAX_TITLE = 300
_LITTLE = 200  # characters; shorter main text is no article, and then all of the page's text is


def main() -> None:
    """Answer one request; the limits hold for this process alone."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    html = json.load(sys.stdin)["html"]
    from trafilatura import bare_extraction, extract_metadata, html2txt  # noqa: PLC0415 - within the limits

    found = bare_extraction(html, include_comments=False, include_formatting=False)
    main_text = (getattr(found, "text", None) or "").strip()
    text = main_text if len(main_text) >= _LITTLE else max(html2txt(html).strip(), main_text, key=len)
    title = extract_metadata(html).title or ""
    json.dump({"title": title[:_MAX_TITLE], "text": text}, sys.stdout)


if __name__ == "__main__":
    main()
