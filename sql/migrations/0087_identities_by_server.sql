-- What a server said of a visitor, apart from what the pixel did, which anyone can report: money goes by the former only.
ALTER TABLE identities ADD COLUMN server_user_id text;
ALTER TABLE visitor_users ADD COLUMN by_server boolean NOT NULL DEFAULT false;

-- The newest visitors of an email are looked for: they may be very many.
CREATE INDEX identities_email_newest ON identities (workspace_id, email, last_ts DESC);
DROP INDEX identities_email;
