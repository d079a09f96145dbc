-- The console's members, their invites, sessions, passkeys and failed sign-ins; saved views and shared dashboards.

CREATE TABLE members (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  email         text CHECK (length(email) <= 254), -- trimmed, lower case; null: signs in with a passkey only
  role          text NOT NULL CHECK (role IN ('owner', 'operator', 'analyst')),
  password_hash text,                              -- scrypt; null: none
  -- The maker of the accepted invitation. Both null: the operator of the service.
  maker_key_id    uuid REFERENCES api_keys (id),
  maker_member_id uuid REFERENCES members (id),
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_seen_at  timestamptz,
  removed_at    timestamptz,                       -- can't sign in any more
  first_steps_hidden_at timestamptz                -- does not want to see them
);
-- One person may be a member of several workspaces, once in each.
CREATE UNIQUE INDEX members_email ON members (email, workspace_id) WHERE removed_at IS NULL;
CREATE INDEX members_listed ON members (workspace_id, created_at) WHERE removed_at IS NULL;

-- Links that create a member, or let in a member who lost the password. Each works once, for 15 minutes.
CREATE TABLE invites (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  token_hash   bytea NOT NULL UNIQUE, -- SHA-256
  role         text NOT NULL CHECK (role IN ('owner', 'operator', 'analyst')),
  email        text,                  -- null: the invited person enters it
  member_id    uuid NOT NULL,         -- the member that it creates, or that has this email
  -- An invite ends when its maker loses the right to make it. Both null: made by the operator of the service.
  maker_member_id uuid REFERENCES members (id),
  maker_key_id    uuid REFERENCES api_keys (id),
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  used_at      timestamptz
);
CREATE INDEX invites_age ON invites (expires_at);

CREATE TABLE sessions (
  id           uuid PRIMARY KEY,
  token_hash   bytea UNIQUE,     -- SHA-256 of the cookie's value; null: waits until its browser switches to it
  -- Sessions of one browser in several workspaces share it. Each session began with its own member's credentials.
  browser_id   uuid NOT NULL DEFAULT gen_random_uuid(),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  member_id    uuid NOT NULL REFERENCES members (id),
  user_agent   text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  confirmed_at timestamptz NOT NULL DEFAULT now(), -- the last proof that the member is at the browser
  last_seen_at timestamptz NOT NULL DEFAULT now(), -- 14 days without a request end it
  expires_at   timestamptz NOT NULL                -- this ends it in any case
);
CREATE INDEX sessions_member ON sessions (member_id, last_seen_at);
CREATE INDEX sessions_browser ON sessions (browser_id);
CREATE INDEX sessions_age ON sessions (last_seen_at);

CREATE TABLE passkeys (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  member_id     uuid NOT NULL REFERENCES members (id),
  credential_id text NOT NULL UNIQUE,     -- base64url, as the authenticator gives it
  public_key    bytea NOT NULL,           -- COSE
  counter       bigint NOT NULL,          -- of signatures; a lower one reveals a copied key
  transports    text[] NOT NULL,
  label         text NOT NULL CHECK (length(label) BETWEEN 1 AND 100),
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_used_at  timestamptz
);
CREATE INDEX passkeys_member ON passkeys (member_id, created_at);

-- Authenticator apps (TOTP, RFC 6238), the second factor of password sign-ins.
CREATE TABLE authenticator_apps (
  member_id    uuid PRIMARY KEY REFERENCES members (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  secret       text NOT NULL,              -- base32
  confirmed_at timestamptz,                -- null: not required yet
  last_step    bigint,                     -- of the last accepted code; only later ones count
  wrong_codes  integer NOT NULL DEFAULT 0, -- since the last right one
  created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE recovery_codes (
  member_id    uuid NOT NULL REFERENCES members (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  code_hash    bytea NOT NULL, -- SHA-256
  used_at      timestamptz,
  PRIMARY KEY (member_id, code_hash)
);

-- Challenges for authenticators. The response deletes its challenge, so that it counts once.
CREATE TABLE passkey_challenges (
  challenge  text PRIMARY KEY,
  member_id  uuid,                 -- whose passkey is created; null: a sign-in
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_age ON passkey_challenges (expires_at);

-- Sign-ins at the OpenID Connect provider. The response deletes its row, so that it counts once.
CREATE TABLE provider_sign_ins (
  browser_hash  bytea PRIMARY KEY, -- SHA-256 of the browser's cookie
  state         text NOT NULL,
  nonce         text NOT NULL,
  code_verifier text NOT NULL,
  return_to     text NOT NULL,     -- path of the console
  expires_at    timestamptz NOT NULL
);
CREATE INDEX provider_sign_ins_age ON provider_sign_ins (expires_at);

-- Persons of a provider, and their members. The row of a removed member keeps that person out.
CREATE TABLE provider_identities (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  issuer       text NOT NULL,
  subject      text NOT NULL,
  member_id    uuid NOT NULL REFERENCES members (id),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, issuer, subject)
);
CREATE INDEX provider_identities_member ON provider_identities (member_id);

-- Failed sign-ins of the last minute, by account and by network address, and wrong passwords of links, by link and
-- network address (keyed hashes of these).
CREATE TABLE sign_in_attempts (
  subject      bytea PRIMARY KEY,
  tried_at     timestamptz[] NOT NULL DEFAULT '{}',
  locked_until timestamptz,
  touched_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sign_in_attempts_age ON sign_in_attempts (touched_at);

-- Completed first steps of a workspace. A step stays completed even if its object is deleted later.
CREATE TABLE first_steps (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  step         text NOT NULL,
  done_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, step)
);

-- Views of the dashboard that the members of a workspace saved.
CREATE TABLE saved_views (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  query        jsonb NOT NULL,
  created_at   timestamptz NOT NULL,
  UNIQUE (workspace_id, created_at)
);

-- What happened at a time, such as a release: charts show it.
CREATE TABLE annotations (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  at           timestamptz NOT NULL,
  text         text NOT NULL CHECK (length(text) BETWEEN 1 AND 200),
  created_at   timestamptz NOT NULL,
  UNIQUE (workspace_id, created_at)
);

-- What the members of a workspace say about a link.
CREATE TABLE link_comments (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  link_id      uuid NOT NULL REFERENCES links (id),
  -- The author: exactly one.
  member_id    uuid REFERENCES members (id),
  key_id       uuid REFERENCES api_keys (id),
  text         text NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
  created_at   timestamptz NOT NULL,
  CHECK (num_nonnulls(member_id, key_id) = 1),
  UNIQUE (workspace_id, created_at)
);
CREATE INDEX link_comments_of_link ON link_comments (link_id, created_at DESC);

-- Dashboards that anyone with the token in their URL may read.
CREATE TABLE shared_dashboards (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  token         text NOT NULL UNIQUE, -- 32 random bytes in base64url; kept as it is, because members copy the URL later
  scope_type    text NOT NULL CHECK (scope_type IN ('workspace', 'tag', 'folder', 'links')),
  scope_values  text[] NOT NULL CHECK ((scope_type = 'workspace') = (scope_values = '{}')), -- tags, or ids
  password_hash text,                 -- scrypt; null: none
  show_revenue  boolean NOT NULL DEFAULT false,
  show_annotations boolean NOT NULL DEFAULT false,
  embed         boolean NOT NULL DEFAULT false CHECK (NOT embed OR password_hash IS NULL), -- other pages may frame it
  expires_at    timestamptz,
  created_at    timestamptz NOT NULL,
  UNIQUE (workspace_id, created_at)
);

-- Who changed what. Append-only; rows older than 13 months are deleted. Without secrets, emails and addresses.
CREATE TABLE audit_entries (
  id           uuid PRIMARY KEY,
  workspace_id uuid REFERENCES workspaces (id), -- null: of the deployment, such as a new partner
  at           timestamptz NOT NULL,
  actor_type   text NOT NULL CHECK (actor_type IN ('member', 'key', 'partner', 'operator', 'provider', 'service')),
  actor_id     uuid,
  action       text NOT NULL,
  target_type  text NOT NULL,
  target_id    uuid,
  ip_hash      bytea,
  details      jsonb NOT NULL DEFAULT '{}',
  UNIQUE NULLS NOT DISTINCT (workspace_id, at)
);
CREATE INDEX audit_entries_age ON audit_entries (at);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.at < now() - interval '13 months' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'audit_entries is append-only';
END $$;
CREATE TRIGGER audit_entries_fixed BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

-- The service's role may not delete entries, so this runs with the rights of its owner.
CREATE FUNCTION delete_old_audit_entries(most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
  WITH gone AS (
    DELETE FROM audit_entries WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM audit_entries WHERE at < now() - interval '13 months' LIMIT most))
    RETURNING 1)
  SELECT count(*) FROM gone
$$;
