-- Mail: the outbox, links that reset a password, and addresses that want no more mail of a workspace.

-- One row for each mail, written in the transaction that causes it.
CREATE TABLE mails (
  id              uuid PRIMARY KEY,  -- the Message-ID is made of it, so every attempt has the same
  workspace_id    uuid REFERENCES workspaces (id), -- null: of an account, which may be in several workspaces
  -- Mails of one queue take turns with those of the others: a workspace's, and those of accounts.
  queue_id        uuid NOT NULL GENERATED ALWAYS AS
                    (coalesce(workspace_id, '00000000-0000-0000-0000-000000000000')) STORED,
  kind            text NOT NULL CHECK (kind IN
                    ('invitation', 'password_reset', 'sign_in', 'account_change', 'key_change', 'payout_address_change',
                     'confirmation', 'report', 'alert', 'application', 'portal_sign_in', 'problem',
                     'affiliate_notice', 'message')),
  recipient       text NOT NULL CHECK (length(recipient) <= 254),
  content         bytea,             -- sealed, because it may hold a link that signs in; null once it is over
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled')),
  attempts        integer NOT NULL DEFAULT 0,
  error           text,
  next_attempt_at timestamptz,
  expires_at      timestamptz NOT NULL, -- no attempt begins later
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,       -- when the mail server accepted it
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK ((status = 'pending') = (content IS NOT NULL)),
  CHECK ((status = 'delivered') = (delivered_at IS NOT NULL))
);
CREATE INDEX mails_due ON mails (queue_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX mails_listed ON mails (workspace_id, id DESC);
CREATE INDEX mails_age ON mails (created_at);

-- Addresses that want no more mail of a workspace, but for that about their own account.
CREATE TABLE mail_unsubscribes (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  email        text NOT NULL CHECK (length(email) <= 254),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, email)
);

-- Addresses without a membership that want a workspace's reports.
CREATE TABLE mail_confirmations (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  email        text NOT NULL CHECK (length(email) <= 254),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, email)
);

-- Links that set a new password. A row is written for every requested address, with an account or without.
CREATE TABLE password_resets (
  id         uuid PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE, -- SHA-256
  email      text NOT NULL CHECK (length(email) <= 254),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at    timestamptz
);
CREATE INDEX password_resets_of ON password_resets (email, created_at);
CREATE INDEX password_resets_age ON password_resets (expires_at);
