-- Referral programs, enrollments, signups, purchases, rewards, payouts, and the ledger.
--
-- Money is minor units of the currency beside it; credits are hundredths of a credit. Grants and commissions are
-- written once, ledger entries are append-only, and every balance is a sum of entries. The status of a grant or
-- commission is kept beside the entries; a trigger logs each change.

-- A program is a campaign: its name and destination are in `destinations`, its code is a link with the program's id,
-- and its referrers' links belong to the campaign. Redirects, clicks and reports treat them as any other link.
CREATE TABLE programs (
  id                      uuid PRIMARY KEY,
  workspace_id            uuid NOT NULL REFERENCES workspaces (id),
  destination_id          uuid NOT NULL UNIQUE REFERENCES destinations (id),
  code                    text NOT NULL CHECK (length(code) BETWEEN 3 AND 40),
  status                  text NOT NULL CHECK (status IN ('active', 'paused')),
  credit_enabled          boolean NOT NULL,
  credit_kind             text NOT NULL CHECK (length(credit_kind) BETWEEN 1 AND 40),
  signup_credit_free      bigint NOT NULL CHECK (signup_credit_free >= 0),
  signup_credit_paid      bigint NOT NULL CHECK (signup_credit_paid >= 0),
  purchase_credit         bigint NOT NULL CHECK (purchase_credit >= 0),
  referee_credit          bigint NOT NULL CHECK (referee_credit >= 0),
  commission_type         text NOT NULL CHECK (commission_type IN ('percent', 'flat')),
  commission_rate         numeric NOT NULL CHECK (commission_rate >= 0), -- percent, or major units when flat
  levels                  numeric[] NOT NULL,                            -- rates of levels 2 and up
  first_sale_only         boolean NOT NULL,
  commission_months       integer CHECK (commission_months >= 1),        -- null: no limit
  hold_days               integer NOT NULL CHECK (hold_days >= 0),
  allow_affiliate_upgrade boolean NOT NULL,
  payout_methods          text[] NOT NULL CHECK (payout_methods <@ ARRAY['paypal', 'payoneer', 'wise']),
  min_payout_minor        bigint NOT NULL CHECK (min_payout_minor >= 0),
  currency                text NOT NULL,
  signups_from            text NOT NULL DEFAULT 'any' CHECK (signups_from IN ('any', 'server')),
  max_signups_per_day     integer CHECK (max_signups_per_day >= 1),      -- of one referrer; null: no limit
  review                  text NOT NULL DEFAULT 'none' CHECK (review IN ('none', 'signups', 'rewards')),
  revoke_credits_on_refund boolean NOT NULL DEFAULT true,
  -- Query parameters of pages that name a referrer, as in ?ref=code: the pixel counts such a visit as a click.
  link_parameters         text[] NOT NULL DEFAULT '{ref,via}' CHECK (cardinality(link_parameters) <= 10),
  -- The affiliates' portal: whether it takes applications, what they are asked, and the terms that they accept.
  portal                  jsonb NOT NULL DEFAULT '{"is_open": false, "review": "manual", "fields": [], "terms_url": null,
                            "terms_text": null, "terms_version": null, "welcome_text": null, "deep_links": false}',
  created_at              timestamptz NOT NULL,
  updated_at              timestamptz NOT NULL
);
CREATE INDEX programs_workspace ON programs (workspace_id, created_at DESC, id DESC);

-- The pixel of a workspace is served with the parameters of its programs.
CREATE FUNCTION record_workspace_of_program() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id) VALUES ('workspace', NEW.workspace_id);
  PERFORM pg_notify('link_changes', '');
  RETURN NULL;
END $$;
CREATE TRIGGER programs_added AFTER INSERT ON programs FOR EACH ROW
  WHEN (NEW.link_parameters <> '{ref,via}') EXECUTE FUNCTION record_workspace_of_program();
CREATE TRIGGER programs_changed AFTER UPDATE OF link_parameters ON programs FOR EACH ROW
  WHEN (NEW.link_parameters <> OLD.link_parameters) EXECUTE FUNCTION record_workspace_of_program();

-- Referrers of a program with terms of their own. Null: the program's. What a referrer has of its own comes first.
CREATE TABLE partner_groups (
  id               uuid PRIMARY KEY,
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  program_id       uuid NOT NULL REFERENCES programs (id),
  name             text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  commission_type  text CHECK (commission_type IN ('percent', 'flat')),
  commission_rate  numeric CHECK (commission_rate >= 0), -- of level 1: percent, or major units when flat
  hold_days        integer CHECK (hold_days >= 0),
  min_payout_minor bigint CHECK (min_payout_minor >= 0), -- in the program's currency
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  UNIQUE (id, program_id),
  CHECK ((commission_type IS NULL) = (commission_rate IS NULL))
);
CREATE UNIQUE INDEX partner_groups_name ON partner_groups (program_id, lower(name));
CREATE INDEX partner_groups_listed ON partner_groups (workspace_id, id DESC);

-- A referrer. The id is the API's `partner_id`. One user has one enrollment in a workspace. A deleted one keeps its
-- ids, which the ledger needs.
CREATE TABLE enrollments (
  id               uuid PRIMARY KEY,
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  program_id       uuid NOT NULL REFERENCES programs (id),
  external_user_id text NOT NULL CHECK (length(external_user_id) BETWEEN 1 AND 200),
  email            text,
  name             text,
  device_id        text,
  address_hash     bytea, -- keyed hash of the enrolling address; null when a secret key enrolled
  tier             text NOT NULL CHECK (tier IN ('free', 'paid')),
  status           text NOT NULL DEFAULT 'approved' CHECK (status IN ('approved', 'suspended')),
  reward_mode      text NOT NULL DEFAULT 'referrer' CHECK (reward_mode IN ('referrer', 'affiliate')),
  payout_method    text CHECK (payout_method IN ('paypal', 'payoneer', 'wise')),
  payout_email     text,
  payout_unconfirmed_at timestamptz,    -- when a page changed the address; null: a server set or confirmed it
  payout_name      text CHECK (length(payout_name) BETWEEN 1 AND 200), -- of the account's owner, for Wise; null: `name`
  commission_type  text CHECK (commission_type IN ('percent', 'flat')), -- own terms; null: the program's
  commission_rate  numeric CHECK (commission_rate >= 0),
  group_id         uuid,                -- a group of the program; null: none
  changed_by       text NOT NULL,       -- who made the last change, as the history shows it
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  deleted_at       timestamptz,
  CHECK ((payout_method IS NULL) = (payout_email IS NULL)),
  CHECK (payout_unconfirmed_at IS NULL OR payout_method IS NOT NULL),
  CHECK ((commission_type IS NULL) = (commission_rate IS NULL)),
  FOREIGN KEY (group_id, program_id) REFERENCES partner_groups (id, program_id)
);
CREATE UNIQUE INDEX enrollments_user ON enrollments (workspace_id, external_user_id) WHERE deleted_at IS NULL;
CREATE INDEX enrollments_program ON enrollments (program_id);
CREATE INDEX enrollments_workspace ON enrollments (workspace_id, id DESC);
CREATE INDEX enrollments_group ON enrollments (group_id, id DESC) WHERE group_id IS NOT NULL;

-- Every link created for a referrer: the newest live one is the referral link, clicks on all of them count.
CREATE TABLE referral_links (
  link_id       uuid PRIMARY KEY REFERENCES links (id),
  enrollment_id uuid NOT NULL REFERENCES enrollments (id)
);
CREATE INDEX referral_links_enrollment ON referral_links (enrollment_id);

-- Codes of referrers beside their slugs, which an earlier program gave them. A slug of the same text takes precedence.
CREATE TABLE referral_codes (
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  code_key      text NOT NULL CHECK (length(code_key) BETWEEN 1 AND 200), -- in lower case
  enrollment_id uuid NOT NULL REFERENCES enrollments (id),
  PRIMARY KEY (workspace_id, code_key)
);
CREATE INDEX referral_codes_enrollment ON referral_codes (enrollment_id);

-- A referral link adds ref=<slug>, also after its slug changed.
CREATE FUNCTION keep_ref_of_slug() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.extra_query := 'ref=' || NEW.slug;
  RETURN NEW;
END $$;
CREATE TRIGGER links_ref BEFORE UPDATE OF slug ON links FOR EACH ROW
  WHEN (NEW.channel = 'referral' AND OLD.extra_query IS NOT NULL) EXECUTE FUNCTION keep_ref_of_slug();

-- A user who signed up. `pending`: reported with a visitor whose click is not visible yet. `unmatched`: a server
-- reported that no one referred the user. `held`: waits for a review, and earns nothing yet. A page's report that
-- matches no referrer leaves no row.
CREATE TABLE signups (
  id               uuid PRIMARY KEY,
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  external_user_id text NOT NULL CHECK (length(external_user_id) BETWEEN 1 AND 200),
  email            text,    -- as addresses identify a person
  mailbox          text,    -- the email without plus tag and Gmail's dots: compared, never shown
  device_id        text,
  visitor_id       uuid,
  address_hash     bytea,
  state            text NOT NULL CHECK (state IN ('pending', 'unmatched', 'held', 'matched')),
  by_server        boolean NOT NULL DEFAULT false, -- reported with a secret key: pages change nothing
  -- A server reported the referrer, or that there is none. Otherwise the next server's report may correct it.
  referrer_by_server boolean NOT NULL DEFAULT false,
  -- A server reported another visitor than a page, whose match stays until the click of that visitor is visible.
  correcting       boolean NOT NULL DEFAULT false,
  rewards_held     boolean NOT NULL DEFAULT false, -- matched, and its rewards wait for a review
  program_id       uuid REFERENCES programs (id),
  enrollment_id    uuid REFERENCES enrollments (id),
  -- The referrer of a pending or correcting signup when no click of its visitor decides: the one in its report.
  fallback_enrollment_id uuid REFERENCES enrollments (id)
    CHECK (fallback_enrollment_id IS NULL OR state = 'pending' OR correcting),
  block_reason     text CHECK (block_reason IN
    ('same_user', 'same_email', 'same_device', 'same_visitor', 'same_ip', 'duplicate_referee', 'mutual_referral',
     'suspended', 'cap', 'rejected')),
  reported_at      timestamptz NOT NULL,
  UNIQUE (workspace_id, external_user_id),
  CHECK ((state IN ('held', 'matched')) = (enrollment_id IS NOT NULL)),
  CHECK ((enrollment_id IS NULL) = (program_id IS NULL)),
  CHECK (block_reason IS NULL OR state = 'matched'),
  CHECK (NOT rewards_held OR (state = 'matched' AND block_reason IS NULL))
);
CREATE INDEX signups_pending ON signups (reported_at) WHERE state = 'pending' OR correcting;
CREATE INDEX signups_enrollment ON signups (enrollment_id, reported_at);
CREATE INDEX signups_email ON signups (workspace_id, lower(email)) WHERE email IS NOT NULL;
CREATE INDEX signups_mailbox ON signups (workspace_id, mailbox) WHERE mailbox IS NOT NULL;
CREATE INDEX signups_device ON signups (workspace_id, device_id) WHERE device_id IS NOT NULL;
CREATE INDEX signups_workspace ON signups (workspace_id, id DESC);
CREATE INDEX signups_reported ON signups (workspace_id, reported_at);
CREATE INDEX signups_blocked ON signups (workspace_id, id DESC) WHERE block_reason IS NOT NULL;
CREATE INDEX signups_review ON signups (workspace_id, id DESC) WHERE state = 'held' OR rewards_held;
CREATE INDEX signups_visitor ON signups (workspace_id, visitor_id) WHERE visitor_id IS NOT NULL;

-- The outcome of an order that may be a referred purchase, one row per order. A purchase whose buyer's signup is
-- pending has that signup and no enrollment yet, and is qualified with it. A `held` purchase is qualified when its
-- buyer's signup is reviewed. A coupon gives an order to its owner without a signup.
CREATE TABLE purchases (
  order_internal_id bigint PRIMARY KEY REFERENCES orders (internal_id),
  workspace_id      uuid NOT NULL REFERENCES workspaces (id),
  signup_id         uuid REFERENCES signups (id),       -- null: no signup brought the order
  coupon_id         uuid, -- of 0013_coupons.sql: a coupon of the order; it counts where `signup_id` is null
  enrollment_id     uuid REFERENCES enrollments (id),   -- the referrer
  external_user_id  text,
  email             text, -- of the purchase's report, while it waits for the buyer's signup
  amount_minor      bigint NOT NULL CHECK (amount_minor >= 0),
  currency          text NOT NULL,
  commissionable_minor bigint CHECK (commissionable_minor BETWEEN 0 AND amount_minor), -- null: all of the amount
  is_renewal        boolean NOT NULL,
  held              boolean NOT NULL DEFAULT false,
  without_rate      boolean NOT NULL DEFAULT false, -- a commission is missing: no rate was set for the currency
  rewarded          boolean NOT NULL,
  ledger_rows       integer NOT NULL,
  reason            text,
  purchased_at      timestamptz NOT NULL,
  created_at        timestamptz NOT NULL,
  CHECK (signup_id IS NOT NULL OR coupon_id IS NOT NULL OR enrollment_id IS NULL),
  CHECK (rewarded = (ledger_rows > 0))
);
CREATE INDEX purchases_workspace ON purchases (workspace_id, order_internal_id DESC);
CREATE INDEX purchases_made ON purchases (workspace_id, purchased_at);
CREATE INDEX purchases_user ON purchases (workspace_id, external_user_id) WHERE external_user_id IS NOT NULL;
CREATE INDEX purchases_held ON purchases (workspace_id, order_internal_id DESC) WHERE held;
CREATE INDEX purchases_without_rate ON purchases (currency) WHERE without_rate;
CREATE INDEX purchases_without_rate_of ON purchases (workspace_id, currency) WHERE without_rate;
CREATE INDEX purchases_signup ON purchases (signup_id) WHERE signup_id IS NOT NULL;
CREATE INDEX purchases_enrollment ON purchases (enrollment_id, purchased_at) WHERE enrollment_id IS NOT NULL;

-- Orders that a server reported and that have no referrer: a signup of their buyer that is reported within 72 hours may
-- still claim them. Pruned after that.
CREATE TABLE unmatched_orders (
  order_internal_id bigint PRIMARY KEY REFERENCES orders (internal_id),
  workspace_id      uuid NOT NULL REFERENCES workspaces (id),
  external_user_id  text,
  email             text,
  visitor_id        uuid,
  created_at        timestamptz NOT NULL
);
CREATE INDEX unmatched_orders_user ON unmatched_orders (workspace_id, external_user_id);
CREATE INDEX unmatched_orders_email ON unmatched_orders (workspace_id, email) WHERE email IS NOT NULL;
CREATE INDEX unmatched_orders_visitor ON unmatched_orders (workspace_id, visitor_id) WHERE visitor_id IS NOT NULL;
CREATE INDEX unmatched_orders_age ON unmatched_orders (created_at);

CREATE TABLE refunds (
  id                uuid PRIMARY KEY,
  workspace_id      uuid NOT NULL REFERENCES workspaces (id),
  refund_id         text NOT NULL CHECK (length(refund_id) BETWEEN 1 AND 200),
  order_internal_id bigint NOT NULL REFERENCES orders (internal_id),
  amount_minor      bigint NOT NULL CHECK (amount_minor >= 0), -- of the order's currency
  provider_minor    bigint CHECK (provider_minor >= 0), -- what the provider gave back; null: a manual report
  matched           boolean NOT NULL,
  ledger_rows       integer NOT NULL,
  same_as           uuid REFERENCES refunds (id), -- the same refund under another id, which has the amount
  created_at        timestamptz NOT NULL,
  UNIQUE (workspace_id, refund_id)
);
CREATE INDEX refunds_order ON refunds (order_internal_id);

-- Refunds of orders that have not been reported yet.
CREATE TABLE early_refunds (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  refund_id    text NOT NULL,
  order_id     text NOT NULL,
  amount       float8,               -- major units of the order's currency; null: all of it
  reported_at  timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, refund_id)
);
CREATE INDEX early_refunds_order ON early_refunds (workspace_id, order_id);
CREATE INDEX early_refunds_age ON early_refunds (reported_at);

-- A non-cash reward. The unique indexes are the last defense: one cause grants a referrer once. A corrected signup may
-- grant the right referrer in addition to the wrong one, whose delivered grant stays.
CREATE TABLE grants (
  id                       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id             uuid NOT NULL REFERENCES workspaces (id),
  program_id               uuid NOT NULL REFERENCES programs (id),
  enrollment_id            uuid NOT NULL REFERENCES enrollments (id), -- the referrer, also of a referee's credit
  external_user_id         text NOT NULL,                             -- the user who gets it
  referee_external_user_id text,                                      -- null: a coupon's order that names no user
  cause                    text NOT NULL CHECK (cause IN ('signup', 'referee', 'purchase')),
  signup_id                uuid REFERENCES signups (id),              -- null: of a coupon's order
  order_internal_id        bigint REFERENCES orders (internal_id),
  credit_kind              text NOT NULL,
  amount                   bigint NOT NULL CHECK (amount >= 0),
  status                   text NOT NULL CHECK (status IN ('earned', 'delivered', 'revoked')),
  revoked_reason           text,
  earned_at                timestamptz,
  delivered_at             timestamptz,
  created_at               timestamptz NOT NULL,
  CHECK ((cause = 'purchase') = (order_internal_id IS NOT NULL)),
  CHECK (cause = 'purchase' OR (signup_id IS NOT NULL AND referee_external_user_id IS NOT NULL)),
  CHECK ((status = 'revoked') = (revoked_reason IS NOT NULL)),
  CHECK ((status = 'delivered') = (delivered_at IS NOT NULL))
);
CREATE UNIQUE INDEX grants_signup_once ON grants (signup_id, cause, enrollment_id)
  WHERE order_internal_id IS NULL AND status <> 'revoked';
CREATE UNIQUE INDEX grants_order_once ON grants (order_internal_id, enrollment_id)
  WHERE order_internal_id IS NOT NULL AND status <> 'revoked';
CREATE INDEX grants_signup ON grants (signup_id);
CREATE INDEX grants_enrollment ON grants (enrollment_id, id);
CREATE INDEX grants_holder ON grants (workspace_id, external_user_id, id);

-- Cash rewards. `amount_minor` is the earned amount. It is negative in a row that reverses a paid commission, and
-- positive in a `correction` that returns an amount which another one reversed. `manual`: a bonus, or a claw-back, by
-- the merchant. `imported`: earned and not paid at an earlier referral program.
CREATE TABLE commissions (
  id                uuid PRIMARY KEY,
  workspace_id      uuid NOT NULL REFERENCES workspaces (id),
  program_id        uuid NOT NULL REFERENCES programs (id),
  enrollment_id     uuid NOT NULL REFERENCES enrollments (id),
  order_internal_id bigint REFERENCES orders (internal_id),
  level             smallint CHECK (level >= 1),
  kind              text NOT NULL CHECK (kind IN ('sale', 'refund', 'correction', 'manual', 'imported')),
  refund_id         uuid REFERENCES refunds (id),
  refunds           uuid REFERENCES commissions (id), -- the paid commission that this one reverses
  of_amount         boolean NOT NULL DEFAULT false, -- a correction because the amount of the order changed
  amount_minor      bigint NOT NULL,
  currency          text NOT NULL,
  status            text NOT NULL CHECK (status IN ('pending', 'eligible', 'paid', 'reversed', 'rejected')),
  note              text CHECK (length(note) BETWEEN 1 AND 500), -- of a manual one
  import_key        text CHECK (length(import_key) BETWEEN 1 AND 300), -- of an imported one: its id in its source
  eligible_at       timestamptz NOT NULL,
  created_at        timestamptz NOT NULL,
  paid_at           timestamptz,
  CHECK ((kind IN ('manual', 'imported')) = (order_internal_id IS NULL)),
  CHECK ((kind IN ('manual', 'imported')) = (level IS NULL)),
  CHECK ((kind = 'manual') = (note IS NOT NULL)),
  CHECK ((kind = 'imported') = (import_key IS NOT NULL)),
  CHECK (CASE kind WHEN 'sale' THEN amount_minor > 0 AND refund_id IS NULL AND refunds IS NULL
                   WHEN 'imported' THEN amount_minor <> 0 AND refund_id IS NULL AND refunds IS NULL
                   WHEN 'manual' THEN amount_minor <> 0 AND refund_id IS NULL AND refunds IS NULL
                   WHEN 'refund' THEN amount_minor <> 0 AND refund_id IS NOT NULL AND refunds IS NOT NULL
                   ELSE amount_minor <> 0 AND refund_id IS NULL AND refunds IS NOT NULL END),
  CHECK (kind = 'correction' OR NOT of_amount),
  CHECK ((status = 'paid') = (paid_at IS NOT NULL))
);
CREATE UNIQUE INDEX commissions_sale_once ON commissions (order_internal_id, level, enrollment_id)
  WHERE kind = 'sale' AND status <> 'reversed';
CREATE UNIQUE INDEX commissions_imported_once ON commissions (workspace_id, import_key) WHERE import_key IS NOT NULL;
CREATE INDEX commissions_enrollment ON commissions (enrollment_id, created_at DESC, id DESC);
CREATE INDEX commissions_order ON commissions (order_internal_id);
CREATE INDEX commissions_held ON commissions (eligible_at) WHERE status = 'pending';
CREATE INDEX commissions_eligible ON commissions (workspace_id, program_id) WHERE status = 'eligible';
CREATE INDEX commissions_period ON commissions (workspace_id, created_at);
CREATE INDEX commissions_listed ON commissions (workspace_id, id DESC);
CREATE INDEX commissions_reversing ON commissions (refunds) WHERE refunds IS NOT NULL;

-- A payout file. Paying it marks its commissions as paid, not those that became eligible since. A file locks nothing: a
-- commission may be in several open files, and the first file that is paid pays it.
CREATE TABLE payout_exports (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  program_id   uuid REFERENCES programs (id),
  format       text NOT NULL CHECK (format IN ('csv', 'paypal', 'wise')),
  status       text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'canceled')),
  ledger_head  bytea NOT NULL CHECK (octet_length(ledger_head) = 32), -- hash of the last entry when it was created
  created_at   timestamptz NOT NULL,
  paid_at      timestamptz,
  canceled_at  timestamptz, -- its open lines can't be paid any more; with a paid line the status is `paid`
  CHECK (status <> 'open' OR (paid_at IS NULL AND canceled_at IS NULL)),
  CHECK (status <> 'canceled' OR canceled_at IS NOT NULL)
);
CREATE INDEX payout_exports_workspace ON payout_exports (workspace_id, id DESC);

-- A line of a payout file: one referrer.
CREATE TABLE payouts (
  id            uuid PRIMARY KEY,
  export_id     uuid NOT NULL REFERENCES payout_exports (id),
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  enrollment_id uuid NOT NULL REFERENCES enrollments (id),
  method        text NOT NULL,
  payout_email  text, -- where the file sends it; null: erased
  amount_minor  bigint NOT NULL CHECK (amount_minor > 0),
  currency      text NOT NULL,
  status        text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'failed')),
  -- Less than the amount if another file paid some of its commissions; 0 if others paid all of them.
  paid_minor    bigint CHECK (paid_minor >= 0),
  fail_reason   text CHECK (length(fail_reason) BETWEEN 1 AND 500),
  created_at    timestamptz NOT NULL,
  paid_at       timestamptz,
  failed_at     timestamptz,
  retried_at    timestamptz, -- when later files may pay the referrer at the address of this failed line again
  UNIQUE (export_id, enrollment_id),
  CHECK ((status = 'open') = (paid_at IS NULL)),
  CHECK ((status = 'open') = (paid_minor IS NULL)),
  CHECK ((status = 'failed') = (failed_at IS NOT NULL)),
  CHECK ((status = 'failed') = (fail_reason IS NOT NULL)),
  CHECK (retried_at IS NULL OR status = 'failed')
);
CREATE INDEX payouts_export ON payouts (export_id, id);
CREATE INDEX payouts_enrollment ON payouts (enrollment_id, paid_at DESC) WHERE paid_at IS NOT NULL;
CREATE INDEX payouts_failed ON payouts (enrollment_id) WHERE status = 'failed' AND retried_at IS NULL;

CREATE TABLE payout_commissions (
  payout_id     uuid NOT NULL REFERENCES payouts (id),
  commission_id uuid NOT NULL REFERENCES commissions (id),
  amount_minor  bigint NOT NULL, -- unpaid amount when the file was created
  PRIMARY KEY (payout_id, commission_id)
);
CREATE INDEX payout_commissions_commission ON payout_commissions (commission_id);

-- The ledger. A move between accounts is two entries that sum to zero.
CREATE TABLE ledger_entries (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  enrollment_id    uuid NOT NULL REFERENCES enrollments (id),
  external_user_id text NOT NULL, -- the user whose balance it is
  account          text NOT NULL CHECK (account IN
    ('cash_pending', 'cash_eligible', 'cash_paid', 'credit_earned', 'credit_delivered')),
  unit             text NOT NULL, -- a currency, or a kind of credit
  amount           bigint NOT NULL CHECK (amount <> 0),
  cause            text NOT NULL CHECK (cause IN
    ('signup', 'referee', 'purchase', 'delivery', 'revocation', 'sale', 'manual', 'imported', 'hold_over', 'refund', 'correction',
     'rejection', 'payout', 'payout_failed')),
  grant_id         bigint REFERENCES grants (id),
  commission_id    uuid REFERENCES commissions (id),
  refund_id        uuid REFERENCES refunds (id),
  payout_id        uuid REFERENCES payouts (id),
  created_at       timestamptz NOT NULL,
  CHECK (num_nonnulls(grant_id, commission_id) = 1),
  CHECK ((commission_id IS NOT NULL) = starts_with(account, 'cash_'))
);
CREATE INDEX ledger_entries_holder ON ledger_entries (workspace_id, external_user_id, account, unit)
  INCLUDE (amount);
CREATE INDEX ledger_entries_workspace ON ledger_entries (workspace_id, id DESC);
CREATE INDEX ledger_entries_enrollment ON ledger_entries (enrollment_id, id DESC);
CREATE INDEX ledger_entries_commission ON ledger_entries (commission_id) WHERE commission_id IS NOT NULL;
CREATE INDEX ledger_entries_grant ON ledger_entries (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX ledger_entries_payout ON ledger_entries (payout_id) WHERE payout_id IS NOT NULL;

-- Whether this transaction stores rows of an archive, which has their history and their places in the chain too.
CREATE FUNCTION is_from_archive() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT current_setting('hoplog.import', true) = 'on'
$$;

-- Every version of the terms that affiliates of a program accept, kept for good. The present one is also in
-- programs.portal.
CREATE TABLE program_terms (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  program_id   uuid NOT NULL REFERENCES programs (id),
  number       integer NOT NULL CHECK (number >= 1), -- counts up in each program
  version      text NOT NULL CHECK (length(version) BETWEEN 1 AND 40), -- the owner's name for it
  url          text,            -- either where the terms are, or
  text         text,            -- their text
  sha256       bytea NOT NULL CHECK (octet_length(sha256) = 32), -- of the text, or of the address
  published_at timestamptz NOT NULL,
  UNIQUE (program_id, number),
  UNIQUE (program_id, version),
  CHECK (num_nonnulls(url, text) = 1)
);

-- Who accepted which terms, and when: a part of the hash chain. It has ids alone, so it stays when its person is erased.
CREATE TABLE terms_acceptances (
  id             uuid PRIMARY KEY,
  workspace_id   uuid NOT NULL REFERENCES workspaces (id),
  terms_id       uuid NOT NULL REFERENCES program_terms (id),
  application_id uuid NOT NULL,                    -- which may be deleted
  enrollment_id  uuid REFERENCES enrollments (id), -- null: accepted with the application
  accepted_at    timestamptz NOT NULL,
  UNIQUE (application_id, terms_id)
);
CREATE INDEX terms_acceptances_of ON terms_acceptances (terms_id);

-- The hash chain of each workspace's ledger, and of accepted terms. Ids are assigned before a transaction commits, so an
-- entry may become visible after one with a higher id: the chain has its own order, in which entries are added once they
-- are visible.
CREATE TABLE ledger_chain (
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  position      bigint NOT NULL CHECK (position >= 1), -- without gaps
  entry_id      bigint UNIQUE REFERENCES ledger_entries (id),
  acceptance_id uuid UNIQUE REFERENCES terms_acceptances (id),
  hash          bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (workspace_id, position),
  CHECK (num_nonnulls(entry_id, acceptance_id) = 1)
);
-- Entries that are not in the chain yet.
CREATE TABLE ledger_unchained (
  workspace_id uuid NOT NULL,
  entry_id     bigint NOT NULL,
  PRIMARY KEY (workspace_id, entry_id)
);
CREATE FUNCTION queue_for_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_from_archive() THEN RETURN NULL; END IF;
  INSERT INTO ledger_unchained (workspace_id, entry_id) SELECT workspace_id, id FROM added;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_entries_chain AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_for_chain();
-- Accepted terms that are not in the chain yet.
CREATE TABLE acceptances_unchained (
  workspace_id  uuid NOT NULL,
  acceptance_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, acceptance_id)
);
CREATE FUNCTION queue_acceptance_for_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_from_archive() THEN RETURN NULL; END IF;
  INSERT INTO acceptances_unchained (workspace_id, acceptance_id) SELECT workspace_id, id FROM added;
  RETURN NULL;
END $$;
CREATE TRIGGER terms_acceptances_chain AFTER INSERT ON terms_acceptances REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_acceptance_for_chain();

CREATE TABLE grant_changes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  grant_id   bigint NOT NULL REFERENCES grants (id),
  old_status text,
  new_status text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE commission_changes (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  commission_id uuid NOT NULL REFERENCES commissions (id),
  old_status    text,
  new_status    text NOT NULL,
  changed_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- The history of each referrer. Addresses are masked, so two rows may show the same text for different ones.
CREATE TABLE enrollment_changes (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  enrollment_id uuid NOT NULL REFERENCES enrollments (id),
  field         text NOT NULL,
  old_value     text,
  new_value     text,
  changed_by    text NOT NULL, -- a masked key, a member's id, or `operator`
  changed_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX enrollment_changes_listed ON enrollment_changes (enrollment_id, id);
CREATE TABLE payout_changes (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  export_id  uuid NOT NULL REFERENCES payout_exports (id),
  payout_id  uuid REFERENCES payouts (id), -- null: of the file itself
  old_status text,
  new_status text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX payout_changes_listed ON payout_changes (export_id, id);

CREATE FUNCTION log_grant_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND is_from_archive() THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
    INSERT INTO grant_changes (grant_id, old_status, new_status)
    VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER grants_log AFTER INSERT OR UPDATE ON grants FOR EACH ROW EXECUTE FUNCTION log_grant_change();

CREATE FUNCTION log_commission_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND is_from_archive() THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
    INSERT INTO commission_changes (commission_id, old_status, new_status)
    VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER commissions_log AFTER INSERT OR UPDATE ON commissions
  FOR EACH ROW EXECUTE FUNCTION log_commission_change();

CREATE FUNCTION masked_email(email text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN position('@' IN email) > 1 THEN left(email, 1) ELSE '' END || '***'
    || coalesce(substring(email FROM '@[^@]*$'), '')
$$;
CREATE FUNCTION log_enrollment_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND is_from_archive() THEN RETURN NULL; END IF;
  INSERT INTO enrollment_changes (enrollment_id, field, old_value, new_value, changed_by)
  SELECT NEW.id, change.field, change.old_value, change.new_value, NEW.changed_by
  FROM (VALUES
    ('status', OLD.status, NEW.status, OLD.status IS DISTINCT FROM NEW.status),
    ('reward_mode', OLD.reward_mode, NEW.reward_mode, OLD.reward_mode <> NEW.reward_mode),
    ('tier', OLD.tier, NEW.tier, OLD.tier <> NEW.tier),
    ('program_id', OLD.program_id::text, NEW.program_id::text, OLD.program_id <> NEW.program_id),
    ('commission_type', OLD.commission_type, NEW.commission_type,
      OLD.commission_type IS DISTINCT FROM NEW.commission_type),
    ('commission_rate', OLD.commission_rate::text, NEW.commission_rate::text,
      OLD.commission_rate IS DISTINCT FROM NEW.commission_rate),
    ('group_id', OLD.group_id::text, NEW.group_id::text, OLD.group_id IS DISTINCT FROM NEW.group_id),
    ('email', masked_email(OLD.email), masked_email(NEW.email),
      TG_OP = 'UPDATE' AND OLD.email IS DISTINCT FROM NEW.email),
    ('payout_method', OLD.payout_method || ' ' || masked_email(OLD.payout_email),
      NEW.payout_method || ' ' || masked_email(NEW.payout_email),
      (OLD.payout_method, OLD.payout_email) IS DISTINCT FROM (NEW.payout_method, NEW.payout_email)),
    ('payout_name', OLD.payout_name, NEW.payout_name, OLD.payout_name IS DISTINCT FROM NEW.payout_name)
  ) AS change (field, old_value, new_value, is_changed) WHERE is_changed;
  RETURN NULL;
END $$;
CREATE TRIGGER enrollments_log AFTER INSERT OR UPDATE ON enrollments
  FOR EACH ROW EXECUTE FUNCTION log_enrollment_change();

CREATE FUNCTION log_payout_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND is_from_archive() THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
    INSERT INTO payout_changes (export_id, payout_id, old_status, new_status)
    VALUES (CASE WHEN TG_TABLE_NAME = 'payouts' THEN (to_jsonb(NEW) ->> 'export_id')::uuid ELSE NEW.id END,
      CASE WHEN TG_TABLE_NAME = 'payouts' THEN NEW.id END, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER payouts_log AFTER INSERT OR UPDATE ON payouts FOR EACH ROW EXECUTE FUNCTION log_payout_change();
CREATE TRIGGER payout_exports_log AFTER INSERT OR UPDATE ON payout_exports
  FOR EACH ROW EXECUTE FUNCTION log_payout_change();

-- Entries and logs refuse every change. Grants and commissions refuse every change but that of their status, and an
-- earlier `eligible_at` while pending, which corrects a clock that was ahead. Rows are never deleted, not even by the
-- tables' owner.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'table % refuses %: its rows are append-only', TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['ledger_entries', 'ledger_chain', 'grant_changes', 'commission_changes', 'payout_changes',
                              'program_terms', 'terms_acceptances'] LOOP
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %I
                    FOR EACH ROW EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('CREATE TRIGGER never_truncated BEFORE TRUNCATE ON %I
                    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['grants', 'commissions', 'refunds', 'purchases', 'enrollments', 'enrollment_changes',
                              'payout_exports', 'payouts', 'payout_commissions'] LOOP
    EXECUTE format('CREATE TRIGGER never_deleted BEFORE DELETE ON %I
                    FOR EACH ROW EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('CREATE TRIGGER never_truncated BEFORE TRUNCATE ON %I
                    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
  END LOOP;
END $$;

-- Erasure removes the values of a deleted referrer's history. Nothing else changes it.
CREATE FUNCTION check_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'old_value' - 'new_value' <> to_jsonb(OLD) - 'old_value' - 'new_value'
     OR NEW.old_value IS NOT NULL OR NEW.new_value IS NOT NULL THEN
    RAISE EXCEPTION 'change % of an enrollment refuses UPDATE: its values can only be erased', OLD.id
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER enrollment_changes_moves BEFORE UPDATE ON enrollment_changes
  FOR EACH ROW EXECUTE FUNCTION check_history_change();

CREATE FUNCTION check_grant_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'status' - 'delivered_at' - 'revoked_reason'
       <> to_jsonb(OLD) - 'status' - 'delivered_at' - 'revoked_reason'
     OR (OLD.status, NEW.status) NOT IN (('earned', 'delivered'), ('earned', 'revoked')) THEN
    RAISE EXCEPTION 'grant % refuses the change from % to %', OLD.id, OLD.status, NEW.status
      USING ERRCODE = 'integrity_constraint_violation', DETAIL = 'Allowed: earned to delivered or revoked.';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER grants_moves BEFORE UPDATE ON grants FOR EACH ROW EXECUTE FUNCTION check_grant_change();

CREATE FUNCTION check_commission_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'status' - 'paid_at' - 'eligible_at' <> to_jsonb(OLD) - 'status' - 'paid_at' - 'eligible_at'
     OR (CASE WHEN NEW.eligible_at = OLD.eligible_at THEN (OLD.status, NEW.status) NOT IN
       (('pending', 'eligible'), ('eligible', 'paid'), ('paid', 'eligible'), ('pending', 'reversed'),
        ('eligible', 'reversed'), ('pending', 'rejected'), ('eligible', 'rejected'))
     ELSE NEW.eligible_at > OLD.eligible_at OR (OLD.status, NEW.status) <> ('pending', 'pending') END) THEN
    RAISE EXCEPTION 'commission % refuses the change from % to %', OLD.id, OLD.status, NEW.status
      USING ERRCODE = 'integrity_constraint_violation', DETAIL = 'Allowed: pending to eligible, reversed or '
        'rejected, eligible to paid, reversed or rejected, paid to eligible (a failed payout), and an earlier '
        'eligible_at while pending.';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER commissions_moves BEFORE UPDATE ON commissions
  FOR EACH ROW EXECUTE FUNCTION check_commission_change();
