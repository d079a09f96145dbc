-- Who publishes a dead letter claims it first, so that no transaction is open while Kafka answers. A claim that comes to
-- nothing runs out; each one lasts longer than the one before, since its copy may be in the topic all the same.
ALTER TABLE dead_letters ADD COLUMN publish_after timestamptz;
ALTER TABLE dead_letters ADD COLUMN publish_attempts smallint NOT NULL DEFAULT 0;
