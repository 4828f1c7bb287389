-- A database of schema 4 with a run that waits for an answer, as sqlite3's dump writes it.
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'hermes_bot','m001_first_tables','2026-11-30 20:14:19.228400+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'hermes_bot','m002_platforms','2026-11-30 23:24:11.149809+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'hermes_bot','m003_judgement','2026-12-01 03:37:39.983160+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'hermes_bot','m004_schedules','2026-12-01 09:18:56.576416+00:00');
CREATE TABLE alerts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, hook TEXT NOT NULL, grouping TEXT NOT NULL, key TEXT NOT NULL,
        began_at INTEGER NOT NULL, title TEXT NOT NULL, thread TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'firing', told TEXT NOT NULL DEFAULT '',
        begins TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL, resolved_at INTEGER);
CREATE TABLE approvals (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, tool TEXT NOT NULL,
        action_hash TEXT NOT NULL, args TEXT NOT NULL, rule TEXT NOT NULL, asker TEXT NOT NULL,
        needed INTEGER NOT NULL DEFAULT 1, votes TEXT NOT NULL DEFAULT '[]',
        state TEXT NOT NULL DEFAULT 'open', at INTEGER NOT NULL, settled_at INTEGER);
CREATE TABLE audit (
        seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, verb TEXT NOT NULL,
        object TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '',
        previous TEXT NOT NULL, hash TEXT NOT NULL);
INSERT INTO "audit" VALUES(1,1772442000123,'slack:T1:U1','run.start','7f3a01','done','','','d6b002186cf1abcfb875f4cbf91a21f1ebd9a099716a46936398e037b975d11e');
CREATE TABLE deliveries (
        seq INTEGER PRIMARY KEY, firing INTEGER NOT NULL REFERENCES firings(seq) ON DELETE CASCADE,
        target TEXT NOT NULL, key TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'pending',
        posted TEXT NOT NULL DEFAULT '', why TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        settled_at INTEGER);
CREATE TABLE effects (
        seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, root TEXT NOT NULL,
        run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, tool TEXT NOT NULL, risk TEXT NOT NULL,
        args TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'intent', result TEXT, at INTEGER NOT NULL,
        settled_at INTEGER);
INSERT INTO "effects" VALUES(1,'7f3a01/c824dda98b101e06','7f3a01','7f3a01','post_message','write','{"text":"looking"}','done','{"status":"ok","data":{"id":"m1"},"duration_ms":120}',1772442002123,1772442003123);
CREATE TABLE firings (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        schedule INTEGER NOT NULL REFERENCES schedules(seq) ON DELETE CASCADE, planned_at INTEGER NOT NULL,
        kind TEXT NOT NULL DEFAULT 'planned', state TEXT NOT NULL DEFAULT 'claimed',
        why TEXT NOT NULL DEFAULT '', inbox INTEGER, run TEXT NOT NULL DEFAULT '',
        late INTEGER NOT NULL DEFAULT 0, asked_by TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        ended_at INTEGER);
CREATE TABLE forgetting (
        id INTEGER PRIMARY KEY, texts TEXT NOT NULL, threads TEXT NOT NULL, run TEXT NOT NULL DEFAULT '',
        since INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE TABLE health_checks (
        id INTEGER PRIMARY KEY, scope TEXT NOT NULL, name TEXT NOT NULL, run TEXT NOT NULL,
        ok INTEGER NOT NULL, status INTEGER NOT NULL DEFAULT 0, latency_ms INTEGER NOT NULL DEFAULT 0,
        why TEXT NOT NULL DEFAULT '', expires_at INTEGER, at INTEGER NOT NULL);
CREATE TABLE hook_events (
        id INTEGER PRIMARY KEY, hook TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL);
CREATE TABLE inbox (
        id INTEGER PRIMARY KEY, platform TEXT NOT NULL, event_id TEXT NOT NULL, channel TEXT NOT NULL,
        thread TEXT NOT NULL, message_id TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL, user TEXT NOT NULL,
        user_name TEXT NOT NULL DEFAULT '', text TEXT NOT NULL, addressed INTEGER NOT NULL DEFAULT 1,
        complete INTEGER NOT NULL DEFAULT 0, press TEXT, request TEXT, sent_at INTEGER NOT NULL,
        at INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'queued', run TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0, files TEXT NOT NULL DEFAULT '', place TEXT NOT NULL DEFAULT 'channel', is_command INTEGER NOT NULL DEFAULT 0, opens TEXT NOT NULL DEFAULT '', is_bot INTEGER NOT NULL DEFAULT 0, quotes INTEGER NOT NULL DEFAULT 0);
INSERT INTO "inbox" VALUES(1,'slack','Ev1','slack/T1/C1','slack/T1/C1/1.1','1.1','message','slack:T1:U1','Ana','why is checkout failing?',1,0,NULL,'["log-diagnosis",{"service":"checkout"},""]',1772442000123,1772442000123,'taken','7f3a01',0,'[["checkout.log","F1",12,"text/plain"]]','private',0,'',0,0);
CREATE TABLE journal (
        seq INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        round INTEGER NOT NULL, phase TEXT NOT NULL, data TEXT NOT NULL DEFAULT '',
        action TEXT NOT NULL DEFAULT '', action_hash TEXT NOT NULL DEFAULT '',
        status TEXT NOT NULL DEFAULT '', tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
        latency_ms INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL, schema INTEGER NOT NULL);
INSERT INTO "journal" VALUES(1,'7f3a01',0,'intake','{"goal":{"text":"why is checkout failing?","author":"slack:T1:U1","skill":"","params":{},"constraints":[],"transcript":[]},"limits":{"profile":"task","rounds":20,"seconds":600,"tokens":200000,"money":0.0,"confidence":0.6,"repeats":3,"stagnation":3,"malformed":3,"failures":5},"thread":"slack/T1/C1/1.1","asker":"slack:T1:U1","root":"7f3a01"}','','','',0,0,0.0,0,1772442000123,1);
INSERT INTO "journal" VALUES(2,'7f3a01',1,'observe','{"prefix":"h1"}','','','',0,0,0.0,0,1772442001123,1);
INSERT INTO "journal" VALUES(3,'7f3a01',1,'reason','{"decision":{"kind":"call","name":"post_message","args":{"text":"looking"},"thought":"tell them"}}','','','',900,40,0.01,700,1772442002123,1);
INSERT INTO "journal" VALUES(4,'7f3a01',1,'act','','post_message','c824dda98b101e06','intent',0,0,0.0,0,1772442002123,1);
INSERT INTO "journal" VALUES(5,'7f3a01',1,'absorb','{"text":"posted","summary":"posted","effect":true}','post_message','c824dda98b101e06','ok',0,0,0.0,120,1772442003123,1);
INSERT INTO "journal" VALUES(6,'7f3a01',1,'judge','{"verdict":"continue"}','','','ok',0,0,0.0,0,1772442003123,1);
INSERT INTO "journal" VALUES(7,'7f3a01',2,'observe','{"prefix":"h1"}','','','',0,0,0.0,0,1772442004123,1);
INSERT INTO "journal" VALUES(8,'7f3a01',2,'reason','{"decision":{"kind":"ask","question":"Since when?","options":["last hour","since yesterday"],"thought":"","field":"since","default":""}}','','','',950,30,0.01,650,1772442005123,1);
INSERT INTO "journal" VALUES(9,'7f3a01',2,'judge','{"verdict":"park","question":{"id":"q7f3a","text":"Since when?","options":["last hour","since yesterday"],"open":true,"field":"since","default":"","kind":"info"}}','','','ok',0,0,0.0,0,1772442005123,1);
CREATE TABLE log_counts (
        template INTEGER NOT NULL REFERENCES log_templates(id) ON DELETE CASCADE, hour INTEGER NOT NULL,
        count INTEGER NOT NULL, PRIMARY KEY (template, hour)) WITHOUT ROWID;
CREATE TABLE log_digests (
        id INTEGER PRIMARY KEY, scope TEXT NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL,
        until INTEGER NOT NULL, since INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE TABLE log_templates (
        id INTEGER PRIMARY KEY, source TEXT NOT NULL, template TEXT NOT NULL, text TEXT NOT NULL,
        level TEXT NOT NULL DEFAULT '', first_at INTEGER NOT NULL, last_at INTEGER NOT NULL);
CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL,
        kind TEXT NOT NULL DEFAULT 'fact', scope TEXT NOT NULL,
        owner TEXT NOT NULL, author TEXT NOT NULL DEFAULT '', run TEXT NOT NULL DEFAULT '',
        channel TEXT NOT NULL DEFAULT '', place TEXT NOT NULL DEFAULT 'channel',
        key TEXT NOT NULL DEFAULT '', trust TEXT NOT NULL DEFAULT 'trusted',
        why TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        used_at INTEGER, used INTEGER NOT NULL DEFAULT 0, expires_at INTEGER,
        vector BLOB, vector_of TEXT NOT NULL DEFAULT '');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','memories_words','memories_words',0,'CREATE VIRTUAL TABLE memories_words USING fts5(words, tokenize = ''ascii'')');
CREATE TABLE 'memories_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "memories_words_config" VALUES('version',4);
CREATE TABLE 'memories_words_content'(id INTEGER PRIMARY KEY, c0);
CREATE TABLE 'memories_words_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "memories_words_data" VALUES(1,X'');
INSERT INTO "memories_words_data" VALUES(10,X'00000000000000');
CREATE TABLE 'memories_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'memories_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE memory_uses (
        memory INTEGER NOT NULL, run TEXT NOT NULL, PRIMARY KEY (memory, run)) WITHOUT ROWID;
CREATE TABLE messages (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL, author TEXT NOT NULL, name TEXT NOT NULL DEFAULT '',
        text TEXT NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL DEFAULT '',
        from_bot INTEGER NOT NULL DEFAULT 0, run TEXT NOT NULL DEFAULT '', outside INTEGER NOT NULL DEFAULT 0);
INSERT INTO "messages" VALUES(1,'slack/T1/C1/1.1','slack:T1:U1','Ana','why is checkout failing?',1772442000123,'1.1',0,'',0);
CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, channel TEXT NOT NULL, thread TEXT NOT NULL,
        kind TEXT NOT NULL, text TEXT NOT NULL, buttons TEXT NOT NULL DEFAULT '',
        files TEXT NOT NULL DEFAULT '', reply_to TEXT NOT NULL DEFAULT '', run TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'pending', platform_id TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL, sent_at INTEGER, parts TEXT NOT NULL DEFAULT '', part INTEGER NOT NULL DEFAULT 0, is_again INTEGER NOT NULL DEFAULT 0, edits TEXT NOT NULL DEFAULT '');
INSERT INTO "outbox" VALUES(1,'question/q7f3a','slack/T1/C1','slack/T1/C1/1.1','question','Since when?','[["last hour","q7f3a",0],["since yesterday","q7f3a",1]]','','1.1','7f3a01','sent','m2',1,0,'',1772442005123,1772442006123,'',0,0,'');
CREATE TABLE posts (
        id INTEGER PRIMARY KEY, channel TEXT NOT NULL, posted TEXT NOT NULL, thread TEXT NOT NULL,
        key TEXT NOT NULL, part INTEGER NOT NULL DEFAULT 0, is_shown INTEGER NOT NULL DEFAULT 0,
        since INTEGER, at INTEGER NOT NULL);
INSERT INTO "posts" VALUES(1,'slack/T1/C1','m2','slack/T1/C1/1.1','question/q7f3a',0,1,NULL,1772442005123);
CREATE TABLE prefixes (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
INSERT INTO "prefixes" VALUES(1,'h1','You are hermes.');
CREATE TABLE questions (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, thread TEXT NOT NULL, asker TEXT NOT NULL,
        text TEXT NOT NULL, options TEXT NOT NULL, open INTEGER NOT NULL, field TEXT NOT NULL DEFAULT '',
        fallback TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open',
        created_at INTEGER NOT NULL, asked_at INTEGER, remind_after INTEGER,
        reminded INTEGER NOT NULL DEFAULT 0, expires_at INTEGER NOT NULL, posted TEXT NOT NULL DEFAULT '',
        answered_by TEXT NOT NULL DEFAULT '', answer TEXT NOT NULL DEFAULT '', closed_at INTEGER);
INSERT INTO "questions" VALUES(1,'q7f3a','7f3a01','slack/T1/C1/1.1','slack:T1:U1','Since when?','["last hour","since yesterday"]',1,'since','','info','open',1772442005123,1772442006123,1772445606123,0,1772701206123,'m2','','',NULL);
CREATE TABLE records (
        id INTEGER PRIMARY KEY, adapter TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
        text TEXT NOT NULL, at INTEGER NOT NULL);
INSERT INTO "records" VALUES(1,'slack','alive','T1','2026-03-02T09:00:00+00:00',1772442000123);
CREATE TABLE runs (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, root TEXT NOT NULL, parent TEXT NOT NULL DEFAULT '',
        continues TEXT NOT NULL DEFAULT '', thread TEXT NOT NULL, asker TEXT NOT NULL, text TEXT NOT NULL,
        skill TEXT NOT NULL DEFAULT '', profile TEXT NOT NULL DEFAULT '', status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
        rounds INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER);
INSERT INTO "runs" VALUES(1,'7f3a01','7f3a01','','','slack/T1/C1/1.1','slack:T1:U1','why is checkout failing?','','','waiting','question',1,2,1920,0.02,1772442000123,1772442005123,NULL);
CREATE TABLE schedules (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, rule TEXT NOT NULL,
        said TEXT NOT NULL DEFAULT '', zone TEXT NOT NULL, targets TEXT NOT NULL, request TEXT NOT NULL,
        text TEXT NOT NULL DEFAULT '', terms TEXT NOT NULL DEFAULT '{}', owner TEXT NOT NULL,
        owner_name TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT 'chat',
        thread TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'active', why TEXT NOT NULL DEFAULT '',
        planned_at INTEGER, due_at INTEGER, failures INTEGER NOT NULL DEFAULT 0,
        digest TEXT NOT NULL DEFAULT '', key TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL);
CREATE TABLE skills_state (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, run TEXT NOT NULL DEFAULT '',
        author TEXT NOT NULL DEFAULT '', text TEXT NOT NULL DEFAULT '', hash TEXT NOT NULL DEFAULT '',
        at INTEGER NOT NULL);
CREATE TABLE spend (
        id INTEGER PRIMARY KEY, day TEXT NOT NULL, run TEXT NOT NULL, user TEXT NOT NULL,
        channel TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
        cost REAL NOT NULL);
INSERT INTO "spend" VALUES(1,'2026-03-02','7f3a01','slack:T1:U1','slack/T1/C1',1850,70,0.02);
CREATE TABLE threads (
        id INTEGER PRIMARY KEY, thread TEXT NOT NULL UNIQUE, platform TEXT NOT NULL,
        started_at INTEGER NOT NULL, last_at INTEGER NOT NULL, participants TEXT NOT NULL, joined INTEGER NOT NULL DEFAULT 1, place TEXT NOT NULL DEFAULT 'channel');
INSERT INTO "threads" VALUES(1,'slack/T1/C1/1.1','slack',1772442000123,1772442000123,'["slack:T1:U1"]',1,'private');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX inbox_event ON inbox(event_id, platform);
CREATE UNIQUE INDEX inbox_message ON inbox(message_id, channel)
        WHERE kind = 'message' AND message_id <> '';
CREATE INDEX inbox_open ON inbox(id) WHERE state IN ('queued', 'taken');
CREATE INDEX inbox_run ON inbox(run) WHERE run <> '';
CREATE INDEX threads_last ON threads(platform, last_at);
CREATE UNIQUE INDEX messages_key ON messages(key, thread) WHERE key <> '';
CREATE INDEX runs_thread ON runs(thread);
CREATE INDEX runs_continues ON runs(continues) WHERE continues <> '';
CREATE INDEX runs_open ON runs(seq) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX journal_run ON journal(run);
CREATE INDEX effects_root ON effects(root);
CREATE INDEX effects_run ON effects(run);
CREATE INDEX effects_open ON effects(seq) WHERE state IN ('intent', 'unknown');
CREATE INDEX questions_run ON questions(run);
CREATE INDEX questions_open ON questions(thread) WHERE state = 'open';
CREATE INDEX outbox_unsent ON outbox(channel, seq) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_unknown ON outbox(seq) WHERE state = 'unknown';
CREATE INDEX outbox_run ON outbox(run) WHERE run <> '';
CREATE UNIQUE INDEX spend_day ON spend(day, run, user, channel);
CREATE INDEX spend_run ON spend(run);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
CREATE UNIQUE INDEX posts_posted ON posts(posted, channel);
CREATE INDEX posts_key ON posts(key, part);
CREATE UNIQUE INDEX records_key ON records(key, kind, adapter);
CREATE INDEX messages_thread ON messages(thread, at, id);
CREATE INDEX memories_owner ON memories(owner, scope);
CREATE INDEX memories_run ON memories(run) WHERE run <> '';
CREATE UNIQUE INDEX memories_key ON memories(key) WHERE key <> '';
CREATE INDEX memories_expiry ON memories(expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memory_uses_run ON memory_uses(run);
CREATE INDEX approvals_run ON approvals(run);
CREATE INDEX runs_parent ON runs(parent) WHERE parent <> '';
CREATE INDEX schedules_due ON schedules(due_at) WHERE state = 'active' AND due_at IS NOT NULL;
CREATE UNIQUE INDEX schedules_key ON schedules(key) WHERE key <> '';
CREATE INDEX schedules_thread ON schedules(thread);
CREATE UNIQUE INDEX firings_claim ON firings(schedule, planned_at, kind);
CREATE INDEX firings_open ON firings(schedule, seq) WHERE state IN ('claimed', 'queued');
CREATE INDEX firings_run ON firings(run) WHERE run <> '';
CREATE INDEX firings_inbox ON firings(inbox) WHERE inbox IS NOT NULL;
CREATE UNIQUE INDEX deliveries_firing ON deliveries(firing, target);
CREATE INDEX deliveries_open ON deliveries(seq) WHERE state IN ('pending', 'unknown');
CREATE UNIQUE INDEX log_templates_text ON log_templates(source, template);
CREATE UNIQUE INDEX log_digests_run ON log_digests(run, scope, source);
CREATE INDEX log_digests_last ON log_digests(scope, source, until);
CREATE UNIQUE INDEX health_checks_run ON health_checks(run, scope, name);
CREATE INDEX health_checks_last ON health_checks(scope, name, at);
CREATE UNIQUE INDEX alerts_once ON alerts(hook, grouping, key, began_at);
CREATE INDEX alerts_thread ON alerts(thread);
CREATE INDEX alerts_firing ON alerts(hook, grouping) WHERE state = 'firing';
CREATE INDEX alerts_untold ON alerts(hook, id) WHERE told <> state;
CREATE INDEX alerts_begins ON alerts(hook, at) WHERE begins <> '';
CREATE UNIQUE INDEX hook_events_once ON hook_events(hook, event);
PRAGMA writable_schema=OFF;
DELETE FROM "sqlite_sequence";
COMMIT;
PRAGMA user_version = 4;
