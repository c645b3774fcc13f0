"""The ledger's tables, all of them append-only.

==================  ================================================================================
table or view       a row is
==================  ================================================================================
``catalogue``       a catalogue that annotations were made under
``reply``           what an annotator gave for one item, or for one part of it
``body``            the raw body of a response; several items that shared a call share it
``annotation``      what a reply says about one attribute
``capability``      what was learned of how a model can be asked
``batch``           a file of calls, ``batch_request`` what it carries, ``batch_event`` its progress
``latest_reply``    the reply that counts for each annotator, item and part: the latest, by the way
                    in which the item was asked last (all at once, or part by part)
``item_state``      how an item ended with an annotator: ``ok``, or as the part that failed last
``open_batch``      a batch that is not over
==================  ================================================================================
"""

from __future__ import annotations

APPLICATION = 0x62707269  # "bpri"
VERSION = 2
SCHEMA = """
CREATE TABLE catalogue (
    hash TEXT PRIMARY KEY,
    content TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE reply (
    reply_id TEXT PRIMARY KEY,
    request_key TEXT NOT NULL,
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    annotator TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    catalogue_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    body_hash TEXT NOT NULL REFERENCES body,
    prompt_tokens INTEGER,
    cached_tokens INTEGER,
    completion_tokens INTEGER,
    price REAL,
    time TEXT NOT NULL,
    seconds REAL NOT NULL,
    attempts INTEGER NOT NULL,
    part TEXT NOT NULL,
    items INTEGER NOT NULL,
    final INTEGER NOT NULL,
    rung TEXT NOT NULL
);
CREATE INDEX reply_by_request ON reply (request_key, time);
CREATE INDEX reply_by_item ON reply (annotator, item_id, part, time);
CREATE TABLE body (
    body_hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE annotation (
    reply_id TEXT NOT NULL REFERENCES reply,
    attribute TEXT NOT NULL,
    value TEXT,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    confidence REAL,
    PRIMARY KEY (reply_id, attribute)
) WITHOUT ROWID;
CREATE TABLE capability (
    base_url TEXT NOT NULL,
    model TEXT NOT NULL,
    ladder TEXT NOT NULL,
    time TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (base_url, model, ladder, time)
) WITHOUT ROWID;
CREATE TABLE batch (
    batch_key TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    model TEXT NOT NULL,
    base_url TEXT NOT NULL,
    rung TEXT NOT NULL,
    calls INTEGER NOT NULL,
    most REAL,
    time TEXT NOT NULL
);
CREATE TABLE batch_request (
    batch_key TEXT NOT NULL REFERENCES batch,
    custom_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    request_key TEXT NOT NULL,
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    part TEXT NOT NULL,
    several INTEGER NOT NULL,
    may_abstain INTEGER NOT NULL,
    prompt_hash TEXT NOT NULL,
    catalogue_hash TEXT NOT NULL,
    PRIMARY KEY (batch_key, custom_id, place)
) WITHOUT ROWID;
CREATE TABLE batch_event (
    batch_key TEXT NOT NULL REFERENCES batch,
    event TEXT NOT NULL,
    detail TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (batch_key, event)
) WITHOUT ROWID;
CREATE VIEW latest_reply AS
    SELECT *, substr(item_id, 1, instr(item_id || '/', '/') - 1) AS benchmark, max(time)
    FROM reply AS r
    WHERE NOT EXISTS (
        SELECT 1 FROM reply AS other
        WHERE other.annotator = r.annotator AND other.item_id = r.item_id
            AND (other.part = '') <> (r.part = '') AND other.time > r.time
    )
    GROUP BY annotator, item_id, part;
CREATE VIEW item_state AS
    SELECT annotator, benchmark, item_id, status, max((status <> 'ok') || time)
    FROM latest_reply GROUP BY annotator, item_id;
CREATE VIEW open_batch AS
    SELECT * FROM batch
    WHERE batch_key NOT IN (SELECT batch_key FROM batch_event WHERE event IN ('ended', 'abandoned'))
"""
TABLES = (
    "catalogue", "body", "reply", "annotation", "capability", "batch", "batch_request",
    "batch_event",
)  # fmt: skip
