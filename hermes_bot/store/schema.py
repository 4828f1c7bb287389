"""Knows the tables: numbered migrations, applied in order; a fresh database is a migrated one.

A migration that has been released is never changed; a change of the tables is a new one at the end.
Zeros and empty texts cost no bytes in a SQLite row, so columns are NOT NULL wherever a default fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlite_utils import Migrations

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

migrations = Migrations("hermes_bot")

TABLES_1 = (
    # event_id and (channel, message_id) are the two ways a platform tells us the same thing twice
    """CREATE TABLE inbox (
        id INTEGER PRIMARY KEY, platform TEXT NOT NULL, event_id TEXT NOT NULL, channel TEXT NOT NULL,
        thread TEXT NOT NULL, message_id TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL, user TEXT NOT NULL,
        user_name TEXT NOT NULL DEFAULT '', text TEXT NOT NULL, addressed INTEGER NOT NULL DEFAULT 1,
        complete INTEGER NOT NULL DEFAULT 0, press TEXT, request TEXT, sent_at INTEGER NOT NULL,
        at INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'queued', run TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0)""",
    "CREATE UNIQUE INDEX inbox_event ON inbox(event_id, platform)",
    """CREATE UNIQUE INDEX inbox_message ON inbox(message_id, channel)
        WHERE kind = 'message' AND message_id <> ''""",
    "CREATE INDEX inbox_open ON inbox(id) WHERE state IN ('queued', 'taken')",
    "CREATE INDEX inbox_run ON inbox(run) WHERE run <> ''",
    """CREATE TABLE threads (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL UNIQUE, platform TEXT NOT NULL,
        started_at INTEGER NOT NULL, last_at INTEGER NOT NULL, participants TEXT NOT NULL)""",
    "CREATE INDEX threads_last ON threads(platform, last_at)",
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL, author TEXT NOT NULL, name TEXT NOT NULL DEFAULT '',
        text TEXT NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL DEFAULT '',
        from_bot INTEGER NOT NULL DEFAULT 0, run TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX messages_thread ON messages(thread)",
    "CREATE UNIQUE INDEX messages_key ON messages(key, thread) WHERE key <> ''",
    """CREATE TABLE runs (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, root TEXT NOT NULL, parent TEXT NOT NULL DEFAULT '',
        continues TEXT NOT NULL DEFAULT '', thread TEXT NOT NULL, asker TEXT NOT NULL, text TEXT NOT NULL,
        skill TEXT NOT NULL DEFAULT '', profile TEXT NOT NULL DEFAULT '', status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
        rounds INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER)""",
    "CREATE INDEX runs_thread ON runs(thread)",
    "CREATE INDEX runs_continues ON runs(continues) WHERE continues <> ''",
    "CREATE INDEX runs_open ON runs(seq) WHERE status IN ('queued', 'running', 'waiting')",
    """CREATE TABLE journal (
        seq INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        round INTEGER NOT NULL, phase TEXT NOT NULL, data TEXT NOT NULL DEFAULT '',
        action TEXT NOT NULL DEFAULT '', action_hash TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '', tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
        latency_ms INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL, schema INTEGER NOT NULL)""",
    "CREATE INDEX journal_run ON journal(run)",
    "CREATE TABLE prefixes (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL)",
    """CREATE TABLE effects (
        seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, root TEXT NOT NULL,
        run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, tool TEXT NOT NULL, risk TEXT NOT NULL,
        args TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'intent', result TEXT, at INTEGER NOT NULL,
        settled_at INTEGER)""",
    "CREATE INDEX effects_root ON effects(root)",
    "CREATE INDEX effects_run ON effects(run)",
    "CREATE INDEX effects_open ON effects(seq) WHERE state IN ('intent', 'unknown')",
    """CREATE TABLE questions (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, thread TEXT NOT NULL, asker TEXT NOT NULL,
        text TEXT NOT NULL, options TEXT NOT NULL, open INTEGER NOT NULL, field TEXT NOT NULL DEFAULT '',
        fallback TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open',
        created_at INTEGER NOT NULL, asked_at INTEGER, remind_after INTEGER,
        reminded INTEGER NOT NULL DEFAULT 0, expires_at INTEGER NOT NULL, posted TEXT NOT NULL DEFAULT '',
        answered_by TEXT NOT NULL DEFAULT '', answer TEXT NOT NULL DEFAULT '', closed_at INTEGER)""",
    "CREATE INDEX questions_run ON questions(run)",
    "CREATE INDEX questions_open ON questions(thread) WHERE state = 'open'",
    """CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, channel TEXT NOT NULL, thread TEXT NOT NULL,
        kind TEXT NOT NULL, text TEXT NOT NULL, buttons TEXT NOT NULL DEFAULT '',
        files TEXT NOT NULL DEFAULT '', reply_to TEXT NOT NULL DEFAULT '', run TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'pending', platform_id TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL, sent_at INTEGER)""",
    "CREATE INDEX outbox_unsent ON outbox(channel, seq) WHERE state IN ('pending', 'sending')",
    "CREATE INDEX outbox_unknown ON outbox(seq) WHERE state = 'unknown'",
    "CREATE INDEX outbox_run ON outbox(run) WHERE run <> ''",
    """CREATE TABLE spend (
        id INTEGER PRIMARY KEY, day TEXT NOT NULL, run TEXT NOT NULL, user TEXT NOT NULL,
        channel TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        cost REAL NOT NULL)""",
    "CREATE UNIQUE INDEX spend_day ON spend(day, run, user, channel)",
    "CREATE INDEX spend_run ON spend(run)",
    """CREATE TABLE audit (
        seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, verb TEXT NOT NULL,
        object TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '',
        previous TEXT NOT NULL, hash TEXT NOT NULL)""",
    """CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END""",
)


@migrations()
def m001_first_tables(db: Database) -> None:
    """Inbox, threads, messages, runs, journal, effects, questions, outbox, spend, audit."""
    _apply(db, 1, TABLES_1)


TABLES_2 = (
    "ALTER TABLE inbox ADD COLUMN files TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE inbox ADD COLUMN place TEXT NOT NULL DEFAULT 'channel'",
    "ALTER TABLE inbox ADD COLUMN is_command INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE inbox ADD COLUMN opens TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE inbox ADD COLUMN is_bot INTEGER NOT NULL DEFAULT 0",
    # 0 where a thread is older than our part in it, and what was said before is still to be asked for
    "ALTER TABLE threads ADD COLUMN joined INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE threads ADD COLUMN place TEXT NOT NULL DEFAULT 'channel'",
    # a post's parts are fixed when it is first sent, so that no upgrade cuts a half-sent post in another way
    "ALTER TABLE outbox ADD COLUMN parts TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE outbox ADD COLUMN part INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE outbox ADD COLUMN is_again INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE outbox ADD COLUMN edits TEXT NOT NULL DEFAULT ''",
    # every post of ours that a platform has an id of: placeholders and later parts too
    """CREATE TABLE posts (
        id INTEGER PRIMARY KEY, channel TEXT NOT NULL, posted TEXT NOT NULL, thread TEXT NOT NULL,
        key TEXT NOT NULL, part INTEGER NOT NULL DEFAULT 0, is_shown INTEGER NOT NULL DEFAULT 0,
        since INTEGER, at INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX posts_posted ON posts(posted, channel)",
    "CREATE INDEX posts_key ON posts(key, part)",
    """CREATE TABLE records (
        id INTEGER PRIMARY KEY, adapter TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
        text TEXT NOT NULL, at INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX records_key ON records(key, kind, adapter)",
    # what was said before we joined is stored later than what made us join
    "DROP INDEX messages_thread",
    "CREATE INDEX messages_thread ON messages(thread, at, id)",
)


@migrations()
def m002_platforms(db: Database) -> None:
    """Files, places, openings; posts in parts; an adapter's own records."""
    _apply(db, 2, TABLES_2)


TABLES_3 = (
    # what is kept across runs; ``owner`` is the thread, person, channel or workspace that ``scope`` means,
    # ``channel`` and ``place`` are where it was said, ``key`` is that of the effect that kept it;
    # people name them by their ids, so that none is given twice
    """CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL,
        kind TEXT NOT NULL DEFAULT 'fact', scope TEXT NOT NULL,
        owner TEXT NOT NULL, author TEXT NOT NULL DEFAULT '', run TEXT NOT NULL DEFAULT '',
        channel TEXT NOT NULL DEFAULT '', place TEXT NOT NULL DEFAULT 'channel',
        key TEXT NOT NULL DEFAULT '', trust TEXT NOT NULL DEFAULT 'trusted',
        why TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        used_at INTEGER, used INTEGER NOT NULL DEFAULT 0, expires_at INTEGER,
        vector BLOB, vector_of TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX memories_owner ON memories(owner, scope)",
    "CREATE INDEX memories_run ON memories(run) WHERE run <> ''",
    "CREATE UNIQUE INDEX memories_key ON memories(key) WHERE key <> ''",
    "CREATE INDEX memories_expiry ON memories(expires_at) WHERE expires_at IS NOT NULL",
    # our own words of each text, by its id (memory.words): SQLite's tokenizers know no words without spaces
    "CREATE VIRTUAL TABLE memories_words USING fts5(words, tokenize = 'ascii')",
    # which runs were shown which, so that it can be taken out of them
    """CREATE TABLE memory_uses (
        memory INTEGER NOT NULL, run TEXT NOT NULL, PRIMARY KEY (memory, run)) WITHOUT ROWID""",
    "CREATE INDEX memory_uses_run ON memory_uses(run)",
    # what is still to be taken out of the rows that quote it; gone itself once that is done
    """CREATE TABLE forgetting (
        id INTEGER PRIMARY KEY, texts TEXT NOT NULL, threads TEXT NOT NULL, run TEXT NOT NULL DEFAULT '',
        since INTEGER NOT NULL, at INTEGER NOT NULL)""",
    # consent to one exact action: the question of the same id is how people are asked for it
    """CREATE TABLE approvals (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, tool TEXT NOT NULL,
        action_hash TEXT NOT NULL, args TEXT NOT NULL, rule TEXT NOT NULL, asker TEXT NOT NULL,
        needed INTEGER NOT NULL DEFAULT 1, votes TEXT NOT NULL DEFAULT '[]',
        state TEXT NOT NULL DEFAULT 'open', at INTEGER NOT NULL, settled_at INTEGER)""",
    "CREATE INDEX approvals_run ON approvals(run)",
    # what the bot decided of skills, drafts among them: their folders hold only what people wrote
    """CREATE TABLE skills_state (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, run TEXT NOT NULL DEFAULT '',
        author TEXT NOT NULL DEFAULT '', text TEXT NOT NULL DEFAULT '', hash TEXT NOT NULL DEFAULT '',
        at INTEGER NOT NULL)""",
    # somebody else's words: forwarded, shared, by a program, or an answer of ours that rests on such
    "ALTER TABLE inbox ADD COLUMN quotes INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE messages ADD COLUMN outside INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX runs_parent ON runs(parent) WHERE parent <> ''",
)


@migrations()
def m003_judgement(db: Database) -> None:
    """Memories, approvals, what was decided of skills."""
    _apply(db, 3, TABLES_3)


TABLES_4 = (
    # a stored rule in time; ``name`` is how people call it, ``rule`` its canonical form (timing.Rule),
    # ``planned_at`` the next planned moment and ``due_at`` when it is looked at: later by its jitter, or by
    # its quiet hours. ``key`` is that of the effect that stored it; ``digest`` is of the last report
    """CREATE TABLE schedules (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, rule TEXT NOT NULL,
        said TEXT NOT NULL DEFAULT '', zone TEXT NOT NULL, targets TEXT NOT NULL, request TEXT NOT NULL,
        text TEXT NOT NULL DEFAULT '', terms TEXT NOT NULL DEFAULT '{}', owner TEXT NOT NULL,
        owner_name TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT 'chat',
        thread TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'active', why TEXT NOT NULL DEFAULT '',
        planned_at INTEGER, due_at INTEGER, failures INTEGER NOT NULL DEFAULT 0,
        digest TEXT NOT NULL DEFAULT '', key TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL)""",
    "CREATE INDEX schedules_due ON schedules(due_at) WHERE state = 'active' AND due_at IS NOT NULL",
    "CREATE UNIQUE INDEX schedules_key ON schedules(key) WHERE key <> ''",
    "CREATE INDEX schedules_thread ON schedules(thread)",
    # one planned moment of it, claimed once in any number of processes; ``inbox`` is the row of its task.
    # The row of a moment that was not worked on says why: missed, skipped, quiet, a holiday
    """CREATE TABLE firings (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        schedule INTEGER NOT NULL REFERENCES schedules(seq) ON DELETE CASCADE, planned_at INTEGER NOT NULL,
        kind TEXT NOT NULL DEFAULT 'planned', state TEXT NOT NULL DEFAULT 'claimed',
        why TEXT NOT NULL DEFAULT '', inbox INTEGER, run TEXT NOT NULL DEFAULT '',
        late INTEGER NOT NULL DEFAULT 0, asked_by TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        ended_at INTEGER)""",
    "CREATE UNIQUE INDEX firings_claim ON firings(schedule, planned_at, kind)",
    "CREATE INDEX firings_open ON firings(schedule, seq) WHERE state IN ('claimed', 'queued')",
    "CREATE INDEX firings_run ON firings(run) WHERE run <> ''",
    "CREATE INDEX firings_inbox ON firings(inbox) WHERE inbox IS NOT NULL",
    # what became of a firing's report in each place; ``key`` is that of its post
    """CREATE TABLE deliveries (
        seq INTEGER PRIMARY KEY, firing INTEGER NOT NULL REFERENCES firings(seq) ON DELETE CASCADE,
        target TEXT NOT NULL, key TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'pending',
        posted TEXT NOT NULL DEFAULT '', why TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        settled_at INTEGER)""",
    "CREATE UNIQUE INDEX deliveries_firing ON deliveries(firing, target)",
    "CREATE INDEX deliveries_open ON deliveries(seq) WHERE state IN ('pending', 'unknown')",
    # templates of a source's log lines, counted by the hour: counting an hour again changes nothing
    """CREATE TABLE log_templates (
        id INTEGER PRIMARY KEY, source TEXT NOT NULL, template TEXT NOT NULL, text TEXT NOT NULL,
        level TEXT NOT NULL DEFAULT '', first_at INTEGER NOT NULL, last_at INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX log_templates_text ON log_templates(source, template)",
    """CREATE TABLE log_counts (
        template INTEGER NOT NULL REFERENCES log_templates(id) ON DELETE CASCADE, hour INTEGER NOT NULL,
        count INTEGER NOT NULL, PRIMARY KEY (template, hour)) WITHOUT ROWID""",
    # up to when a schedule's, or a channel's, digest of a source went, by run: "since last time" starts
    # there; ``since`` is how far back the log was read: what is older than that cannot be told from new
    """CREATE TABLE log_digests (
        id INTEGER PRIMARY KEY, scope TEXT NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL,
        until INTEGER NOT NULL, since INTEGER NOT NULL, at INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX log_digests_run ON log_digests(run, scope, source)",
    "CREATE INDEX log_digests_last ON log_digests(scope, source, until)",
    # every look at something over HTTP
    """CREATE TABLE health_checks (
        id INTEGER PRIMARY KEY, scope TEXT NOT NULL, name TEXT NOT NULL, run TEXT NOT NULL,
        ok INTEGER NOT NULL, status INTEGER NOT NULL DEFAULT 0, latency_ms INTEGER NOT NULL DEFAULT 0,
        why TEXT NOT NULL DEFAULT '', expires_at INTEGER, at INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX health_checks_run ON health_checks(run, scope, name)",
    "CREATE INDEX health_checks_last ON health_checks(scope, name, at)",
    # what a webhook told of, from its beginning to its resolution, by the sender's own keys of it
    # ("grouping" is the sender's key of what belongs together, of one thread); ``told`` is the state that
    # people were last told of, ``begins`` says of the row that began a thread for what: an alert, a flood
    """CREATE TABLE alerts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, hook TEXT NOT NULL, grouping TEXT NOT NULL, key TEXT NOT NULL,
        began_at INTEGER NOT NULL, title TEXT NOT NULL, thread TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'firing', told TEXT NOT NULL DEFAULT '',
        begins TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL, resolved_at INTEGER)""",
    "CREATE UNIQUE INDEX alerts_once ON alerts(hook, grouping, key, began_at)",
    "CREATE INDEX alerts_thread ON alerts(thread)",
    "CREATE INDEX alerts_firing ON alerts(hook, grouping) WHERE state = 'firing'",
    "CREATE INDEX alerts_untold ON alerts(hook, id) WHERE told <> state",
    "CREATE INDEX alerts_begins ON alerts(hook, at) WHERE begins <> ''",
    # what was taken in already: a body that comes again, signed as before, is the same event
    """CREATE TABLE hook_events (
        id INTEGER PRIMARY KEY, hook TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX hook_events_once ON hook_events(hook, event)",
)


@migrations()
def m004_schedules(db: Database) -> None:
    """Schedules, their firings and deliveries; what reports keep; what webhooks told of."""
    _apply(db, 4, TABLES_4)


LATEST = 4


def _apply(db: Database, number: int, statements: tuple[str, ...]) -> None:
    for statement in statements:
        db.execute(statement)
    # in the file's header, so that an older program sees a newer file before it touches a table
    db.execute(f"PRAGMA user_version = {number}")


def version(db: sqlite3.Connection) -> int:
    """Return the number of the last migration this file has seen; 0 for an empty one."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])
