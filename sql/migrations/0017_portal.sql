-- The affiliates' portal: who applied to a program, and who is signed in there.

-- An application to a program. An address has one at a time; an approved one has a referrer. The address proves itself
-- by the first sign-in with a link in a mail. The accepted terms are in terms_acceptances.
CREATE TABLE applications (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  program_id    uuid NOT NULL REFERENCES programs (id),
  email         text NOT NULL CHECK (length(email) <= 254), -- as addresses identify a person
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  answers       jsonb NOT NULL,  -- by the names of the program's fields at that time
  language      text NOT NULL,   -- of the page, and of mails
  notices       boolean NOT NULL DEFAULT true, -- whether the affiliate wants mails of affiliate_notices
  status        text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
  enrollment_id uuid UNIQUE REFERENCES enrollments (id),
  created_at    timestamptz NOT NULL,
  decided_at    timestamptz,
  UNIQUE (program_id, email),
  CHECK ((status = 'approved') = (enrollment_id IS NOT NULL)),
  CHECK ((status = 'pending') = (decided_at IS NULL))
);
CREATE INDEX applications_listed ON applications (workspace_id, id DESC);
CREATE INDEX applications_email ON applications (email);

-- What a program gives its affiliates. An image is one of the workspace's pictures, which stays while an asset has it.
CREATE TABLE assets (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  program_id   uuid NOT NULL REFERENCES programs (id),
  type         text NOT NULL CHECK (type IN ('image', 'text', 'link')),
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  picture_name text,
  text         text CHECK (length(text) <= 10000),
  url          text,
  created_at   timestamptz NOT NULL,
  FOREIGN KEY (workspace_id, picture_name) REFERENCES pictures (workspace_id, name),
  CHECK ((type = 'image') = (picture_name IS NOT NULL)),
  CHECK ((type = 'text') = (text IS NOT NULL)),
  CHECK ((type = 'link') = (url IS NOT NULL))
);
CREATE INDEX assets_listed ON assets (workspace_id, id DESC);
CREATE INDEX assets_of_program ON assets (program_id);
CREATE INDEX assets_picture ON assets (workspace_id, picture_name) WHERE picture_name IS NOT NULL;

-- Proofs of work that were accepted: each counts once, and an address may send some in an hour.
CREATE TABLE spent_challenges (
  id           bytea PRIMARY KEY,    -- SHA-256 of the challenge
  address_hash bytea NOT NULL,
  spent_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX spent_challenges_of ON spent_challenges (address_hash, spent_at);
CREATE INDEX spent_challenges_age ON spent_challenges (spent_at);

-- Links that sign in to the portal. A row is written for every requested address, with an account or without.
CREATE TABLE portal_sign_ins (
  token_hash   bytea PRIMARY KEY,    -- SHA-256
  browser_hash bytea NOT NULL,       -- SHA-256 of the cookie of the browser that asked
  email        text NOT NULL CHECK (length(email) <= 254),
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  used_at      timestamptz
);
CREATE INDEX portal_sign_ins_of ON portal_sign_ins (email, created_at);
CREATE INDEX portal_sign_ins_age ON portal_sign_ins (expires_at);

-- Browsers that are signed in to the portal, in each program that the address is in.
CREATE TABLE portal_sessions (
  token_hash   bytea PRIMARY KEY,    -- SHA-256
  email        text NOT NULL CHECK (length(email) <= 254),
  created_at   timestamptz NOT NULL DEFAULT now(), -- of the sign-in
  last_seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX portal_sessions_of ON portal_sessions (email);
CREATE INDEX portal_sessions_age ON portal_sessions (last_seen_at);

-- What an affiliate is to be told by mail. Written in the transaction of its cause, also where no mail is sent.
CREATE TABLE affiliate_notices (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  enrollment_id uuid NOT NULL REFERENCES enrollments (id),
  kind          text NOT NULL CHECK (kind IN ('first_sale', 'payout', 'payout_failed', 'refund')),
  amount_minor  bigint NOT NULL CHECK (amount_minor > 0),
  currency      text NOT NULL,
  created_at    timestamptz NOT NULL,
  due_at        timestamptz NOT NULL, -- refunds are gathered: one mail an hour
  settled_at    timestamptz           -- when its mail was queued, or dropped
);
CREATE INDEX affiliate_notices_due ON affiliate_notices (due_at) WHERE settled_at IS NULL;
CREATE INDEX affiliate_notices_of ON affiliate_notices (enrollment_id, kind, settled_at);
CREATE INDEX affiliate_notices_age ON affiliate_notices (created_at);

-- Messages of a workspace to its referrers. The mails are in `mails`, which are deleted after 30 days.
CREATE TABLE messages (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  program_id   uuid REFERENCES programs (id), -- to all of it; null: to a group, or to some
  group_id     uuid,                          -- to all of it; the group may have been deleted since
  subject      text NOT NULL CHECK (length(subject) BETWEEN 1 AND 150), -- with merge fields, as the text
  text         text NOT NULL CHECK (length(text) BETWEEN 1 AND 10000),
  left_out     jsonb NOT NULL,                -- how many, by the reason
  sent_by      text NOT NULL,
  created_at   timestamptz NOT NULL
);
CREATE INDEX messages_listed ON messages (workspace_id, id DESC);
CREATE INDEX messages_sent ON messages (workspace_id, created_at);

-- To whom a message went. `canceled`: the recipient had ended the mails, or was erased, before it was sent.
CREATE TABLE message_recipients (
  message_id    uuid NOT NULL REFERENCES messages (id),
  enrollment_id uuid NOT NULL REFERENCES enrollments (id),
  mail_id       uuid UNIQUE,                  -- null: from another deployment
  status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled')),
  PRIMARY KEY (message_id, enrollment_id)
);
CREATE INDEX message_recipients_of ON message_recipients (enrollment_id);

CREATE FUNCTION keep_status_of_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE message_recipients SET status = CASE WHEN TG_OP = 'DELETE' THEN 'canceled' ELSE NEW.status END
  WHERE mail_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER mails_of_messages AFTER UPDATE OF status ON mails FOR EACH ROW
  WHEN (NEW.kind = 'message' AND NEW.status <> OLD.status) EXECUTE FUNCTION keep_status_of_message();
CREATE TRIGGER mails_of_messages_dropped AFTER DELETE ON mails FOR EACH ROW
  WHEN (OLD.kind = 'message' AND OLD.status = 'pending') EXECUTE FUNCTION keep_status_of_message();
