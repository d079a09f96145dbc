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
  corrected_to bigint NOT NULL,
  is_copied    boolean NOT NULL DEFAULT false,
  noted_at     timestamptz NOT NULL DEFAULT now(),
  done_at      timestamptz,
  UNIQUE (stream_id, before)
);

CREATE INDEX clock_corrections_open ON clock_corrections (id) WHERE done_at IS NULL;
