"""Knows every error that leaves a part of hermes_bot, as one tree.

::

    HermesError
    ├── ConfigError            bad configuration; the command line exits 78
    ├── StateFolderHeld        another process holds the state folder; exit 75, carries its pid
    ├── StoreError             the database refused, is damaged or cannot be reached
    │   ├── RunOver            a commit came for a run that has ended meanwhile (stop, expiry)
    │   └── RunPaused          the program ends; the run goes on from its rows at the next start
    ├── ToolError              a tool declines; carries code and whether trying again may help
    ├── SkillError             a skill or chain is malformed, or its parameters do not fit
    ├── ScheduleError          a rule in time, or a schedule, cannot be as it was asked for
    ├── ModelError             the model's endpoint failed; carries a cause a person understands
    └── AdapterError           a platform will not take a message
        ├── RateLimited        it said when to come back: ``retry_after`` seconds
        ├── Transient          certainly not delivered; try again later
        ├── Ambiguous          perhaps delivered; reconcile, never repeat blindly
        ├── PostGone           the post that was to be edited is not there any more
        ├── ContentRefused     this content is refused; simpler content may pass
        ├── PlaceGone          this destination is gone; other destinations work
        └── BotBroken          the bot's own access is broken; stop sending and tell the operator

A foreign exception becomes one of these where it enters, with ``from error``.
"""


class HermesError(Exception):
    """The root of the tree; its text is written for a person: where, what, what to do."""


class ConfigError(HermesError):
    """The configuration cannot be used as it stands."""


class StateFolderHeld(HermesError):  # noqa: N818 - reads as the fact it states
    """Another process holds the state folder.

    Attributes:
        pid: that process, or 0 where it could not be read.
    """

    def __init__(self, folder: str, pid: int) -> None:
        super().__init__(
            f"{folder}: process {pid or 'unknown'} holds this state folder. Stop it first, or give this one "
            "another folder with HERMES_BOT__STATE_DIR."
        )
        self.pid = pid


class StoreError(HermesError):
    """The database refused, is damaged or cannot be reached."""


class RunOver(StoreError):  # noqa: N818 - reads as the fact it states
    """A commit came for a run that has ended meanwhile; nothing of it was stored."""


class RunPaused(StoreError):  # noqa: N818 - reads as the fact it states
    """The program ends while a tool of a run waits for other runs; what is stored goes on later."""


class ToolError(HermesError):
    """A tool declines its work; the toolbox turns it into a ``Result`` for the model.

    Attributes:
        code: one lower-case word the tool declared, ``not_found`` say.
        retryable: whether the same call may succeed later.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


class SkillError(HermesError):
    """A skill or chain is malformed, or its parameters do not fit."""


class ScheduleError(HermesError):
    """A rule in time, or a schedule, cannot be as it was asked for; the text says what would work."""


class ModelError(HermesError):
    """The model's endpoint failed.

    Attributes:
        code: ``unauthorized``, ``rate_limited``, ``unavailable``, ``timeout``, ``overflow``, ``garbage`` or
            ``refused``.
        retryable: whether another try, or the next endpoint, may succeed.
    """

    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


class AdapterError(HermesError):
    """A platform will not take a message; the subclass says what follows from that."""


class RateLimited(AdapterError):  # noqa: N818 - the platforms' own word
    """The platform said when to come back.

    Attributes:
        retry_after: seconds from now.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Transient(AdapterError):  # noqa: N818 - names the kind
    """Certainly not delivered; the same message may pass later."""


class Ambiguous(AdapterError):  # noqa: N818 - names the kind
    """Perhaps delivered: a time-out or a lost connection after sending."""


class ContentRefused(AdapterError):  # noqa: N818 - names the kind
    """The platform refuses this content; a simpler form may pass."""


class PostGone(AdapterError):  # noqa: N818 - names the kind
    """The post that was to be edited is not there any more, or cannot be edited."""


class PlaceGone(AdapterError):  # noqa: N818 - names the kind
    """This destination cannot be reached any more; others can."""


class BotBroken(AdapterError):  # noqa: N818 - names the kind
    """The bot's own access is broken: stop sending and tell the operator."""
