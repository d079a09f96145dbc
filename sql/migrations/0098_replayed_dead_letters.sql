-- Of a letter that was replayed only how many events it held is kept: the events themselves are where erasures find them. Nor is a
-- copy of it published any more.

-- As many events of one byte, each behind its length (four bytes, the lowest first).
CREATE FUNCTION blank_events(payload bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  bytes  bytea := payload || ''; -- read from its table once
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

UPDATE dead_letters SET payload = blank_events(payload) WHERE replayed_at IS NOT NULL;
DROP INDEX dead_letters_unpublished;
CREATE INDEX dead_letters_unpublished ON dead_letters (id) WHERE published_at IS NULL AND replayed_at IS NULL;
