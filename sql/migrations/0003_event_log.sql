-- Streams of the event log, corrections of their clocks, lanes of consumers, replicas of ClickHouse, dead letters, and
-- leases of max_clicks.

CREATE TABLE ingest_streams (
  stream_id      uuid PRIMARY KEY,
  ordinal        smallint UNIQUE CHECK (ordinal BETWEEN 0 AND 999), -- null: retired long ago, and another stream may have it
  place          smallint NOT NULL DEFAULT 0,     -- by which streams are spread over the partitions of Kafka: busy ones from 0 up, idle ones from -1 down
  name           text NOT NULL,
  high_water     numeric(20) NOT NULL DEFAULT -1, -- last sequence inserted into ClickHouse; -1: none
  visible_before bigint NOT NULL DEFAULT 0,       -- microseconds: every event older than this is visible
  -- Ranges of sequences below high_water that the log has lost, [["from", "to"], ...] in order: the process sends them
  -- again.
  missing        jsonb NOT NULL DEFAULT '[]',
  unsendable     numeric(20) NOT NULL DEFAULT -1, -- what is missing up to this sequence, the process no longer has
  state          text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'retired')),
  retired_at     timestamptz,
  CHECK (ordinal IS NOT NULL OR state = 'retired'),
  -- When an operator requested to set the stream's time back (`hoplog stream reset-clock`); null: no open request.
  clock_reset_requested_at timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now()
);

-- Imports of clicks (api/click-imports). Their rows in ClickHouse have `import_id`. A row exists here before its first
-- click is stored; the counts are of the clicks stored since.
CREATE TABLE click_imports (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  id           uuid NOT NULL,             -- a caller may choose it
  source       text NOT NULL,             -- shlink, yourls, kutt, plausible, matomo, csv
  rows         bigint NOT NULL DEFAULT 0, -- rows of ClickHouse
  clicks       bigint NOT NULL DEFAULT 0, -- clicks that the rows represent
  orders       bigint NOT NULL DEFAULT 0,
  first_ts     bigint,                    -- microseconds, of the oldest click
  last_ts      bigint,                    -- microseconds, of the newest click
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  undone_at    timestamptz,               -- when the import was undone
  removed_at   timestamptz,               -- its clicks have left ClickHouse; null while `undone_at`: a worker removes them
  -- Set until the roll-ups contain the changes. It is set before the clicks change, and is newer than a pass that did
  -- not see them.
  roll_up_due  timestamptz,
  -- It runs, or was killed or failed: then a replica of ClickHouse may have clicks that another one lacks.
  is_storing   boolean NOT NULL DEFAULT false,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX click_imports_storing ON click_imports (workspace_id) WHERE is_storing;
CREATE INDEX click_imports_workspace ON click_imports (workspace_id, created_at DESC);
CREATE INDEX click_imports_undone ON click_imports (undone_at) WHERE undone_at IS NOT NULL AND removed_at IS NULL;
CREATE INDEX click_imports_due ON click_imports (roll_up_due) WHERE roll_up_due IS NOT NULL;

-- Events of a stream whose clock was ahead and was set back: they happened `shift` earlier than their time says.
-- Times are microseconds. A worker corrects them slice by slice in time, so that a slice and its corrected copies
-- never overlap. Everything before corrected_to is done. is_copied: the next slice has its copies, and its originals
-- are still to be deleted.
CREATE TABLE clock_corrections (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream_id    uuid NOT NULL REFERENCES ingest_streams (stream_id),
  ordinal      smallint NOT NULL,
  first        numeric(20) NOT NULL, -- sequence of the first event that may be ahead; 0: unknown
  before       numeric(20) NOT NULL, -- sequence after the last one
  from_ts      bigint NOT NULL,
  to_ts        bigint NOT NULL,
  shift        bigint NOT NULL CHECK (shift > 0),
  is_ambiguous boolean, -- unclear which events are ahead, so none is corrected; null: no replica has looked
  noted_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (stream_id, before)
);

-- One row per consumer and partition. `epoch` fences writes: the worker that raised it owns the lane. `intent` is the
-- exact range about to be inserted, with its token; the next holder replays exactly that range.
CREATE TABLE log_lanes (
  consumer    text NOT NULL,
  partition   text NOT NULL,
  epoch       bigint NOT NULL DEFAULT 0,
  next_offset numeric(20) NOT NULL DEFAULT 0,
  intent      jsonb,
  held_by     text,        -- name of the worker that has the lane
  held_until  timestamptz, -- when another worker may try; the epoch alone keeps the lane safe
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, partition)
);

-- Replicas of ClickHouse: each is a whole copy of the analytical data. One that is missing here has nothing.
CREATE TABLE replicas (
  name     text PRIMARY KEY CHECK (name ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'),
  added_at timestamptz NOT NULL DEFAULT now(),
  is_readable boolean NOT NULL DEFAULT false, -- it has everything that is not in the event log, too
  log_from jsonb -- how far each stream was when it was added: another replica has what is older; null: the log has all
);
INSERT INTO replicas (name, is_readable) VALUES ('main', true);

-- Progress of a replica that is behind the lane of a partition: without a row it has everything that the lane has.
-- The lane's holder writes it, under the lane's epoch. `lost_at`: the log no longer holds `next_offset`, so that only
-- another replica can fill it.
CREATE TABLE replica_lanes (
  replica     text NOT NULL REFERENCES replicas (name),
  partition   text NOT NULL,
  next_offset numeric(20) NOT NULL,
  intent      jsonb, -- as in log_lanes
  lost_at     timestamptz,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (replica, partition)
);

-- Progress of streams in a replica that is behind a partition. A stream gets its row when the lane first advances it
-- without the replica; until then ingest_streams is right for both.
CREATE TABLE replica_streams (
  replica        text NOT NULL,
  partition      text NOT NULL,
  stream_id      uuid NOT NULL REFERENCES ingest_streams (stream_id),
  high_water     numeric(20) NOT NULL, -- these as in ingest_streams
  visible_before bigint NOT NULL,
  missing        jsonb NOT NULL,
  PRIMARY KEY (replica, partition, stream_id),
  FOREIGN KEY (replica, partition) REFERENCES replica_lanes (replica, partition) ON DELETE CASCADE
);
CREATE INDEX replica_streams_stream ON replica_streams (stream_id);

-- Corrections of clocks that a replica of ClickHouse lacks, and how far each is.
CREATE TABLE replica_corrections (
  replica       text NOT NULL REFERENCES replicas (name) ON DELETE CASCADE,
  correction_id bigint NOT NULL REFERENCES clock_corrections (id) ON DELETE CASCADE,
  corrected_to  bigint NOT NULL,                -- every event with a time before this is corrected
  is_copied     boolean NOT NULL DEFAULT false, -- the corrected copies of the next slice are inserted
  PRIMARY KEY (replica, correction_id)
);

-- What a replica missed of the writes that do not come from the event log, while another one got them. It is not read
-- until nothing is left. Works and their subjects: replica-repairs.ts.
CREATE TABLE replica_repairs (
  replica     text NOT NULL REFERENCES replicas (name) ON DELETE CASCADE,
  work        text NOT NULL,
  subject     text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- newer when it was missed again
  PRIMARY KEY (replica, work, subject)
);

-- Worker processes that are alive, so that they share the lanes. Only a hint: the epoch keeps a lane safe. Unlogged:
-- each worker writes it every second, and a crash of PostgreSQL may empty it.
CREATE UNLOGGED TABLE live_workers (
  consumer   text NOT NULL,
  holder     text NOT NULL, -- as in log_lanes.held_by
  live_until timestamptz NOT NULL,
  PRIMARY KEY (consumer, holder)
);

-- Jobs that one process at a time runs: `held_until` moves on while it runs. No lock of a session, which a pooler in
-- transaction mode would leave with another client.
CREATE TABLE job_leases (
  job        text PRIMARY KEY,
  holder     uuid NOT NULL,        -- of one run
  held_until timestamptz NOT NULL
);

-- How many clicks of each stream and hour the log had for ClickHouse, erased ones included. Written in the transaction
-- that advances a lane, so that it is right at the streams' high-water marks, also after PostgreSQL went back.
CREATE TABLE counted_clicks (
  ordinal   smallint NOT NULL,
  hour      integer NOT NULL,  -- since the epoch, of the clicks' times
  clicks    bigint NOT NULL,
  sequences bigint NOT NULL,   -- sum of the low 32 bits of their sequences
  has_gap   boolean NOT NULL,  -- the log lacks events of about this time, which ClickHouse may have or not
  PRIMARY KEY (ordinal, hour)
);

-- When the clicks of a replica were last compared with counted_clicks, and the older hours that are compared next.
CREATE TABLE count_comparisons (
  replica     text PRIMARY KEY REFERENCES replicas (name) ON DELETE CASCADE,
  compared_at timestamptz NOT NULL,
  next_hour   integer NOT NULL
);

-- Streams and hours of which a replica has other clicks than the log had, until they are compared again and equal.
CREATE TABLE count_differences (
  replica    text NOT NULL REFERENCES replicas (name) ON DELETE CASCADE,
  ordinal    smallint NOT NULL,
  hour       integer NOT NULL, -- since the epoch
  counted    bigint NOT NULL,
  stored     bigint NOT NULL,  -- with erased ones; as many as counted: other ones
  first_seen timestamptz NOT NULL,
  PRIMARY KEY (replica, ordinal, hour)
);

-- When the newest complete backup of the deployment was made; no row: none is known.
CREATE TABLE last_backup (
  is_newest boolean PRIMARY KEY DEFAULT true CHECK (is_newest),
  made_at   timestamptz NOT NULL
);

-- Rows of these tables are updated in place each second. A read cleans a page, so vacuum is needed only if that is
-- delayed, and statistics of a few rows serve no plan. By default autovacuum did both at each of its checks, and wrote
-- more than the updates.
ALTER TABLE ingest_streams SET (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 100000);
ALTER TABLE log_lanes SET (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 100000);
ALTER TABLE counted_clicks SET (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 100000);
ALTER TABLE live_workers SET (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 100000);

-- Events that could not be decoded or stored. With Kafka a copy goes to the dead-letter topic; this table decides: it
-- is written in the transaction that advances the lane past the event.
CREATE TABLE dead_letters (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partition  text NOT NULL,
  log_offset numeric(20) NOT NULL,
  stream_id  uuid,
  sequence   numeric(20),
  reason     text NOT NULL,
  payload    bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  replayed_at timestamptz,
  published_at timestamptz,
  -- A claim of the publisher, so that no transaction stays open while Kafka responds. Each claim lasts longer than
  -- the last: the former copy may have reached the topic.
  publish_after    timestamptz,
  publish_attempts smallint NOT NULL DEFAULT 0,
  UNIQUE NULLS NOT DISTINCT (partition, log_offset, stream_id, sequence)
);

CREATE INDEX dead_letters_open ON dead_letters (created_at) WHERE replayed_at IS NULL;
CREATE INDEX dead_letters_unpublished ON dead_letters (id) WHERE published_at IS NULL AND replayed_at IS NULL;
-- Finds other letters with the events of a replayed letter: a batch that was sent twice may have become two letters.
CREATE INDEX dead_letters_of_streams ON dead_letters (stream_id, sequence);

-- Replaces the content of a replayed letter by as many events of one byte, each after its length (four bytes,
-- little-endian). Erasures reach the replayed events, not the letter.
CREATE FUNCTION blank_events(payload bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  bytes  bytea := payload || ''; -- detoasted once
  at     bigint := 0;
  events integer := 0;
BEGIN
  WHILE at + 4 <= length(bytes) LOOP
    at := at + 4 + get_byte(bytes, at::int) + get_byte(bytes, at::int + 1) * 256
      + get_byte(bytes, at::int + 2) * 65536 + get_byte(bytes, at::int + 3) * 16777216::bigint;
    events := events + 1;
  END LOOP;
  RETURN decode(repeat('0100000000', greatest(events, 1)), 'hex');
END $$;

-- Permits of links with max_clicks, leased by streams. sum(granted) never exceeds max_clicks. `used` grows in the
-- transaction that advances a lane, by the clicks counted in it. A return of permits names a generation and changes
-- nothing under another one: it may arrive after its process died and the lease was claimed again.
CREATE TABLE link_leases (
  link_id   uuid NOT NULL REFERENCES links (id),
  stream_id uuid NOT NULL REFERENCES ingest_streams (stream_id),
  granted   bigint NOT NULL DEFAULT 0,
  used      bigint NOT NULL DEFAULT 0,
  generation bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (link_id, stream_id),
  CHECK (granted >= 0 AND used >= 0)
);
