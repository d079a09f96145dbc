-- Workspaces, their API keys and partners; secrets of the deployment; idempotency keys; currency rates.

CREATE TABLE deployment_secrets (
  name       text PRIMARY KEY,
  secret     bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Salts of the visitors of `cookieless` workspaces, one a UTC day. Unlogged: a salt must be gone from the disk after its
-- day, and the write-ahead log would keep it. A crash of PostgreSQL empties the table; processes have it in memory.
CREATE UNLOGGED TABLE visitor_salts (
  day  date PRIMARY KEY,
  salt bytea NOT NULL
);

CREATE TABLE partners (
  id         uuid PRIMARY KEY,
  name       text NOT NULL,
  key_lookup text UNIQUE,
  key_hash   bytea,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE workspaces (
  id                  uuid PRIMARY KEY,
  name                text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  slug                text NOT NULL UNIQUE,
  primary_domain      text,
  plan                text NOT NULL DEFAULT 'free'
                      CHECK (plan IN ('free', 'starter', 'pro', 'business', 'unlimited')),
  plan_status         text NOT NULL DEFAULT 'active'
                      CHECK (plan_status IN ('active', 'trialing', 'past_due', 'canceled')),
  attribution_model   text NOT NULL DEFAULT 'last_click'
                      CHECK (attribution_model IN ('last_click', 'first_click', 'linear')),
  attribution_window  integer NOT NULL DEFAULT 30 CHECK (attribution_window BETWEEN 1 AND 365), -- days
  currency            text NOT NULL DEFAULT 'usd',
  -- `required`: a call with a publishable key that names a user must prove the user's identity.
  identity_verification text NOT NULL DEFAULT 'off' CHECK (identity_verification IN ('off', 'required')),
  time_zone           text, -- IANA name, of days in reports; null: UTC for the API, the viewer's in the console
  payout_hold_days    integer NOT NULL DEFAULT 3 CHECK (payout_hold_days BETWEEN 0 AND 90),
  allowed_origins     text[] NOT NULL DEFAULT '{}', -- of pages that use a publishable key; empty: any
  -- Of visitors' pages and mail; null: the visitor's own for pages, English for mail.
  language            text CHECK (language IN ('en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'ar')),
  problem_mails       boolean NOT NULL DEFAULT true,  -- whether owners are told of problems
  check_destinations  boolean NOT NULL DEFAULT false, -- whether workers request its destinations each day
  partner_id          uuid REFERENCES partners (id),
  partner_external_id text,
  -- `cookieless`: visitors are told apart within a day, without anything on their device. `none`: not at all.
  tracking            text NOT NULL DEFAULT 'full' CHECK (tracking IN ('full', 'cookieless', 'none')),
  retention_months    smallint CHECK (retention_months BETWEEN 1 AND 120), -- of clicks; null: for ever
  logo                bytea CHECK (length(logo) <= 102400), -- a PNG, for QR codes
  -- Suspended by the operator: its links and its API respond with an error that says so.
  suspended_at        timestamptz,
  first_steps_ended_at timestamptz, -- the console's first steps are all done, or hidden by an owner
  sample_of           uuid REFERENCES workspaces (id), -- whose members look at this one, which has sample data only
  sample_ready_at     timestamptz, -- null: the sample data is not complete
  removed_at          timestamptz, -- of sample data: the row stays for its ledger, which refuses deletions
  created_at          timestamptz NOT NULL DEFAULT now(),
  UNIQUE (partner_id, partner_external_id)
);
CREATE UNIQUE INDEX workspaces_sample ON workspaces (sample_of) WHERE removed_at IS NULL;

-- The key of each workspace's `user_hash` (HMAC). In a table of its own: no query of a workspace selects it.
CREATE TABLE identity_secrets (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
  secret       text NOT NULL,
  created_at   timestamptz NOT NULL
);

CREATE TABLE api_keys (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  kind         text NOT NULL CHECK (kind IN ('secret', 'publishable')),
  lookup       text NOT NULL UNIQUE,        -- the 8 hex of the token
  hash         bytea NOT NULL,              -- SHA-256 of the whole token
  label        text NOT NULL DEFAULT '',
  manage       boolean NOT NULL DEFAULT false, -- may manage keys, members, settings and the identity secret
  restrictions text[] CHECK (restrictions <@ ARRAY['read', 'links', 'referrals', 'tracking'] AND restrictions <> '{}'),
                                              -- null: unrestricted
  -- The maker. All null: the operator of the service.
  partner_id      uuid REFERENCES partners (id),
  maker_key_id    uuid REFERENCES api_keys (id),
  maker_member_id uuid,                       -- in `members`
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  last_used_at timestamptz,
  pixel_seen_at timestamptz,                 -- first call of /collect; pages with the embed use the key too
  revoked_at   timestamptz,
  CHECK (kind = 'secret' OR (NOT manage AND restrictions IS NULL AND expires_at IS NULL)),
  CHECK (num_nonnulls(partner_id, maker_key_id, maker_member_id) <= 1)
);
CREATE INDEX api_keys_workspace ON api_keys (workspace_id, created_at);
CREATE INDEX api_keys_maker_key ON api_keys (maker_key_id) WHERE maker_key_id IS NOT NULL;

-- A record commits in the transaction of its request; only 2xx responses are stored, for 24 hours.
CREATE TABLE idempotency_keys (
  workspace_id uuid NOT NULL, -- the caller: a workspace, or a partner with calls of its own
  key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 201), -- 200 characters, behind a mark of publishable keys
  fingerprint  bytea NOT NULL,
  status       smallint NOT NULL,
  body         jsonb NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Reserves the key of a request that waits before its transaction and can't hold an advisory lock meanwhile. It ends
-- with the response, or at ends_at when its process died.
CREATE TABLE idempotency_reservations (
  workspace_id uuid NOT NULL, -- as in idempotency_keys
  key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 201), -- 200 characters, behind a mark of publishable keys
  holder       uuid NOT NULL, -- the request
  ends_at      timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, key)
);

-- Writes that a program was shown by a tool of MCP and has not confirmed. A confirmation deletes its row.
CREATE TABLE write_previews (
  token_hash   bytea PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  key_id       uuid NOT NULL REFERENCES api_keys (id),
  tool         text NOT NULL,
  write        jsonb NOT NULL,     -- what a confirmation does
  expires_at   timestamptz NOT NULL
);
CREATE INDEX write_previews_age ON write_previews (expires_at);

-- Rows that publishable keys made in a workspace: strangers have those keys.
CREATE TABLE publishable_uses (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  hour         timestamptz NOT NULL,
  made         integer NOT NULL,
  PRIMARY KEY (workspace_id, hour)
);
CREATE INDEX publishable_uses_age ON publishable_uses (hour);

-- Rates that convert an order's currency into the workspace's currency; set by the operator.
CREATE TABLE currency_rates (
  currency   text NOT NULL,
  base       text NOT NULL,
  rate       numeric NOT NULL CHECK (rate > 0), -- units of `base` for one unit of `currency`
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (currency, base)
);

-- Imports of workspaces from archives of other deployments (`hoplog import workspace`).
CREATE TABLE workspace_imports (
  workspace_id uuid PRIMARY KEY,   -- the workspace is here once the import has finished
  archive_id   uuid NOT NULL,
  offsets      jsonb NOT NULL,     -- what is added to the archive's numbers, by table
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at  timestamptz,
  -- Set until the roll-ups have its clicks, as in click_imports.
  roll_up_due  timestamptz
);
CREATE INDEX workspace_imports_due ON workspace_imports (roll_up_due) WHERE roll_up_due IS NOT NULL;

-- Reserves numbers for rows of an archive, and returns the offset to add to the archive's numbers: 0 if none of them is
-- in use here. The service's role may not set a sequence, so this runs with the rights of its owner.
CREATE FUNCTION reserve_numbers(given regclass, number_column text, least_number bigint, greatest_number bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  sequence   text := pg_get_serial_sequence(given::text, number_column);
  last_given bigint;
  is_called  boolean;
  added      bigint;
BEGIN
  IF greatest_number - least_number > 1000000000000 THEN RAISE EXCEPTION 'too many numbers'; END IF;
  -- Waits for transactions that have taken a number, and blocks others until this one ends.
  EXECUTE format('ALTER SEQUENCE %s NO CYCLE', sequence);
  EXECUTE format('SELECT last_value, is_called FROM %s', sequence) INTO last_given, is_called;
  IF NOT is_called THEN last_given := last_given - 1; END IF;
  added := CASE WHEN last_given < least_number THEN 0 ELSE last_given - least_number + 1 END;
  EXECUTE format('ALTER SEQUENCE %s RESTART WITH %s', sequence, greatest_number + added + 1);
  RETURN added;
END $$;
