"""Texts that look like what models write, and worse, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

MARKS = [
    "*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "~~~", "[", "]", "(", ")", "](", "![",
    "<", ">", "&", "&lt;", "&amp;", "\\", "|", "#", "-", "+", "=", ":", "!", ".", "1.", "2)", "@", "/",
    "'", '"', "{", "}", "^", "[ ] ", "[x] ", "- ", "* ", "> ", "1. ", "7. ", "# ", "---", "===",
    "| a | b |\n|---|---|\n| c | d |\n", "\n", "\n\n", "  ", "    ", "\t", "```py\n", "~~~\n",
    "\n```\n", "  \n", "\\\n", "<https://a.example/b_c>", "<a@b.example>", "https://a.example/x_(y)",
    "http://b.example/?q=1&lt;2", "[t](https://a.example/p_(q))", "![i](https://a.example/i.png)",
    "https://e.example/?d=SECRET", "<@U1>", "<!here>", "@here", "@name", "/run", "<String>",
    "tg://user?id=1", '[t](<a b> "title")', "2 * 3 * 4", "a_b_c", "**b**", "*i*", "***x***", "~~s~~",
    "`c`", "www.a.example/?x=y",
]  # fmt: skip
LETTERS = [
    "a",
    "B",
    "7",
    "word",
    "Wort",
    "é",
    "e\u0301",
    "日本語",
    "שלום",
    "👩‍👩‍👧",
    "🇩🇪",
    "😀",
    "\u200d",
    "\ufe0f",
    " ",
    " ",
]

pieces = st.sampled_from(MARKS) | st.sampled_from(LETTERS)
markdown = st.lists(pieces, max_size=40).map("".join) | st.text(max_size=60)
