-- Where Kafka is the event log a copy of every dead letter goes to a topic. The table is what counts: it is written in the
-- transaction that passes over the event, and knows what was replayed.
ALTER TABLE dead_letters ADD COLUMN published_at timestamptz;
CREATE INDEX dead_letters_unpublished ON dead_letters (id) WHERE published_at IS NULL;
