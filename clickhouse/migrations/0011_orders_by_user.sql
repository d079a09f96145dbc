-- A visitor's journey has the orders that name their user and nobody's visitor.
ALTER TABLE {{database}}.orders {{on_cluster}} ADD INDEX IF NOT EXISTS by_user external_user_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE {{database}}.orders {{on_cluster}} MATERIALIZE INDEX by_user;
