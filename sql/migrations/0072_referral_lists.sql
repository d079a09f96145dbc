-- What the lists of the referral programme walk: each newest first, by a key that no two rows share.

CREATE INDEX enrollments_workspace ON enrollments (workspace_id, id DESC);
CREATE INDEX signups_workspace ON signups (workspace_id, id DESC);
CREATE INDEX signups_blocked ON signups (workspace_id, id DESC) WHERE block_reason IS NOT NULL;
CREATE INDEX purchases_workspace ON purchases (workspace_id, order_internal_id DESC);
CREATE INDEX payout_exports_workspace ON payout_exports (workspace_id, id DESC);
CREATE INDEX payouts_export ON payouts (export_id, id);
CREATE INDEX ledger_entries_workspace ON ledger_entries (workspace_id, id DESC);
CREATE INDEX ledger_entries_enrollment ON ledger_entries (enrollment_id, id DESC);

-- Every ledger row of an order: its sales have a unique index, what refunds took back of them has none.
CREATE INDEX commissions_order ON commissions (order_internal_id);
