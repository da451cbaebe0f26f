-- No primary or foreign keys: DuckDB checks them before the end of a transaction, so replacing a row inside one would
-- fail. Every write holds the exclusive sidecar lock, and the code looks before it inserts.
-- Times that the store sets are UTC without a zone; times of a conversation are ISO 8601 text, so an offset is kept.

CREATE TABLE conversations (
    id VARCHAR NOT NULL,
    source VARCHAR,
    format VARCHAR NOT NULL,
    session_time VARCHAR,
    user_name VARCHAR,
    participants VARCHAR NOT NULL,
    added_at TIMESTAMP NOT NULL
);

CREATE TABLE remembered (
    conversation VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    user_name VARCHAR,
    recorded_at TIMESTAMP NOT NULL
);

CREATE TABLE turns (
    conversation VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    ref VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    speaker VARCHAR,
    time VARCHAR,
    session VARCHAR,
    message BIGINT NOT NULL,
    start_offset BIGINT NOT NULL,
    text VARCHAR NOT NULL,
    hash VARCHAR NOT NULL
);

CREATE TABLE statements (
    conversation VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    id VARCHAR NOT NULL,
    comparison_key VARCHAR NOT NULL,
    user_name VARCHAR,
    content VARCHAR NOT NULL
);

CREATE TABLE memories (
    position BIGINT NOT NULL,
    id VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    key VARCHAR NOT NULL,
    subject VARCHAR,
    subject_key VARCHAR,
    speaker VARCHAR,
    occurred VARCHAR,
    first_day VARCHAR,
    last_day VARCHAR,
    confidence DOUBLE,
    importance DOUBLE,
    expires_at VARCHAR,
    immutable BOOLEAN NOT NULL,
    status VARCHAR NOT NULL,
    superseded_by VARCHAR,
    conversation VARCHAR,
    user_name VARCHAR,
    agent VARCHAR,
    quote VARCHAR NOT NULL,
    fields VARCHAR NOT NULL,
    created_at TIMESTAMP,
    updated_at TIMESTAMP,
    length DOUBLE NOT NULL
);

-- A row without offsets names a turn (Memory.evidence); a row with offsets marks a place in it (Memory.evidence_spans).
CREATE TABLE evidence (
    memory_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    conversation VARCHAR,
    ref VARCHAR NOT NULL,
    start_offset BIGINT,
    end_offset BIGINT
);

CREATE TABLE history (
    seq BIGINT NOT NULL,
    memory_id VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    operation VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    before VARCHAR,
    after VARCHAR,
    conversation VARCHAR,
    recorded_at TIMESTAMP NOT NULL
);

CREATE TABLE postings (
    term VARCHAR NOT NULL,
    memory_id VARCHAR NOT NULL,
    frequency DOUBLE NOT NULL
);

-- One row while a rewrite of the file is owed: forgotten rows are gone, their bytes are not yet.
CREATE TABLE pending (
    task VARCHAR NOT NULL
);
