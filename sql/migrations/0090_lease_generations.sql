-- A give-back may still be waiting in PostgreSQL when the process that sent it is gone or has given it up. Whoever works
-- out anew what a stream holds of a link raises the generation of its lease; a give-back names the one it knows and
-- changes nothing under another. Processes of the release before neither read nor raise it.
ALTER TABLE link_leases ADD COLUMN generation bigint NOT NULL DEFAULT 0;
