-- Domains of workspaces. Two workspaces may wait for the same domain; the first one that proves it gets it.

CREATE TABLE domains (
  id               uuid PRIMARY KEY,
  -- The domain's part of each name, (domain_number, slug). A domain that another workspace takes over starts without
  -- names.
  number           integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  workspace_id     uuid NOT NULL REFERENCES workspaces (id),
  domain           text NOT NULL CHECK (domain = lower(domain) AND length(domain) <= 245),
  -- `failing`: proven, but its record has been missing for days; it redirects until another workspace proves it.
  status           text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'verified', 'failing')),
  is_default       boolean NOT NULL DEFAULT false, -- of new links
  root_url         text,
  not_found_url    text,
  expired_url      text,
  apple_app_site_association json, -- not jsonb: served as stored
  assetlinks       json,
  proof            text NOT NULL, -- value of the TXT record
  verified_at      timestamptz,
  last_checked_at  timestamptz,
  missing_since    timestamptz,   -- first check that did not find the record of a proven domain
  problem          text,
  created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (workspace_id, domain),
  UNIQUE (workspace_id, created_at),
  CHECK (NOT is_default OR status <> 'pending')
);
CREATE UNIQUE INDEX domains_owner ON domains (domain) WHERE status <> 'pending';
CREATE UNIQUE INDEX domains_default ON domains (workspace_id) WHERE is_default;
CREATE INDEX domains_due ON domains (last_checked_at NULLS FIRST);

-- Visitors' hosts: ingest has every proven domain in memory.
CREATE TRIGGER domains_changed AFTER INSERT OR DELETE OR UPDATE OF status, root_url, not_found_url, expired_url,
    apple_app_site_association, assetlinks ON domains
  FOR EACH ROW EXECUTE FUNCTION record_change('domain');

-- A page shows its buttons' short links, but none on a domain that another workspace has proven.
CREATE FUNCTION record_pages_of_domain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id)
    SELECT DISTINCT 'bio_page', b.page_id FROM links l JOIN bio_buttons b ON b.link_id = l.id
    WHERE l.domain_number = NEW.number AND l.channel = 'bio';
  RETURN NULL;
END $$;
CREATE TRIGGER domains_lost AFTER UPDATE OF status ON domains FOR EACH ROW
  WHEN ((OLD.status = 'pending') <> (NEW.status = 'pending')) EXECUTE FUNCTION record_pages_of_domain();
