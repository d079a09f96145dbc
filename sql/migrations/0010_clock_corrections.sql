-- Events of a stream whose clock was ahead and was set back: they happened `shift` earlier than they say. Times are
-- microseconds. A worker corrects what is stored, slice by slice in time, so that a slice and its corrected copies never
-- overlap: up to corrected_to all is done; with is_copied the slice behind it has its copies, and its originals still
-- have to go.
CREATE TABLE clock_corrections (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream_id    uuid NOT NULL REFERENCES ingest_streams (stream_id),
  ordinal      smallint NOT NULL,
  first        numeric(20) NOT NULL, -- sequence of the first event that may be ahead; 0: not known
  before       numeric(20) NOT NULL, -- sequence behind the last one
  from_ts      bigint NOT NULL,
  to_ts        bigint NOT NULL,
  shift        bigint NOT NULL CHECK (shift > 0),
  corrected_to bigint NOT NULL,
  is_copied    boolean NOT NULL DEFAULT false,
  noted_at     timestamptz NOT NULL DEFAULT now(),
  done_at      timestamptz,
  UNIQUE (stream_id, before)
);

CREATE INDEX clock_corrections_open ON clock_corrections (id) WHERE done_at IS NULL;

-- When an operator asked for the stream's time to be set back (`hoplog stream reset-clock`); null once it was.
ALTER TABLE ingest_streams ADD COLUMN clock_reset_asked_at timestamptz;

-- Creation times are unique in a workspace. A row that was made while the clock was ahead does not count: all later ones
-- would be ahead as well.
CREATE OR REPLACE FUNCTION next_link_time(ws uuid) RETURNS timestamptz LANGUAGE sql AS $$
  SELECT GREATEST(
    date_trunc('microseconds', clock_timestamp()),
    (SELECT max(created_at) + interval '1 microsecond' FROM links
     WHERE workspace_id = ws AND created_at < clock_timestamp() + interval '5 seconds')
  )
$$;
