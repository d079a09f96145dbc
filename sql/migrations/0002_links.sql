-- Folders, campaigns (`destinations`, as in `destination_id`), links, and the namespace of slugs.

CREATE TABLE folders (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (workspace_id, created_at)
);

-- UTM parameters under a name, which the form of a link fills in.
CREATE TABLE utm_templates (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  utm_source   text CHECK (length(utm_source) BETWEEN 1 AND 255),
  utm_medium   text CHECK (length(utm_medium) BETWEEN 1 AND 255),
  utm_campaign text CHECK (length(utm_campaign) BETWEEN 1 AND 255),
  utm_term     text CHECK (length(utm_term) BETWEEN 1 AND 255),
  utm_content  text CHECK (length(utm_content) BETWEEN 1 AND 255),
  created_at   timestamptz NOT NULL,
  CHECK (num_nonnulls(utm_source, utm_medium, utm_campaign, utm_term, utm_content) > 0),
  UNIQUE (workspace_id, created_at)
);

CREATE TABLE destinations (
  id              uuid PRIMARY KEY,
  workspace_id    uuid NOT NULL REFERENCES workspaces (id),
  name            text NOT NULL,
  destination_url text NOT NULL,
  external        boolean NOT NULL DEFAULT false,
  tags            text[] NOT NULL DEFAULT '{}',
  folder_id       uuid REFERENCES folders (id) ON DELETE SET NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX destinations_workspace ON destinations (workspace_id);
CREATE INDEX destinations_folder ON destinations (folder_id) WHERE folder_id IS NOT NULL;

-- Titles and icons of destinations, which workers fetch when the console shows a link: a cache.
CREATE TABLE destination_pages (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  url_sha256   bytea NOT NULL, -- a URL may be too long for an index
  url          text NOT NULL,
  title        text CHECK (length(title) BETWEEN 1 AND 300),
  icon_sha256  bytea,
  due_at       timestamptz,             -- when a worker may fetch it; null: it is fetched
  fetched_at   timestamptz,             -- also of a fetch that failed
  wanted_at    timestamptz NOT NULL,    -- when a fetch was last requested
  PRIMARY KEY (workspace_id, url_sha256)
);
CREATE INDEX destination_pages_due ON destination_pages (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX destination_pages_wanted ON destination_pages (wanted_at);

CREATE TABLE destination_icons (
  id           uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  sha256       bytea NOT NULL,
  type         text NOT NULL CHECK (type IN ('image/png', 'image/gif', 'image/x-icon')),
  image        bytea NOT NULL CHECK (length(image) <= 65536),
  used_at      timestamptz NOT NULL,    -- when a fetch last found it
  UNIQUE (workspace_id, sha256)
);
CREATE INDEX destination_icons_used ON destination_icons (used_at);

-- Every slug of each domain in the form of its key (NFC, without case), with what it names. A deleted link keeps its row: its slug stays reserved.
CREATE TABLE slugs (
  domain_number integer NOT NULL DEFAULT 0, -- `domains.number`; 0: the deployment's own domain
  slug          text NOT NULL CHECK (slug = lower(slug COLLATE "C")),
  -- 'alias': the former address of a link that has moved to another domain. Another link may take it. 'prefix':
  -- `guide/` means that slugs such as `guide/start` exist. It belongs to the first workspace with such a slug.
  kind          text NOT NULL CHECK (kind IN ('link', 'bio_page', 'program', 'alias', 'prefix')),
  target_id     uuid NOT NULL,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  alias_id      uuid,
  PRIMARY KEY (domain_number, slug),
  CHECK ((kind = 'alias') = (alias_id IS NOT NULL)),
  CHECK (domain_number = 0 OR kind IN ('link', 'alias', 'prefix'))
);
CREATE INDEX slugs_target ON slugs (target_id);
-- Ingest reads the slugs of pages and programs at its start: without this index it scans every link's slug.
CREATE INDEX slugs_of_others ON slugs (domain_number, slug) WHERE kind <> 'link';
CREATE UNIQUE INDEX slugs_alias ON slugs (alias_id) WHERE alias_id IS NOT NULL;

CREATE TABLE links (
  id                   uuid PRIMARY KEY,
  workspace_id         uuid NOT NULL REFERENCES workspaces (id),
  destination_id       uuid NOT NULL REFERENCES destinations (id),
  domain_number        integer NOT NULL DEFAULT 0, -- `domains.number`; 0: the deployment's own domain
  slug                 text NOT NULL,
  channel              text,                 -- null: a Smart Link
  external_id          text CHECK (length(external_id) BETWEEN 1 AND 200),
  metadata             jsonb,
  utm_source           text,
  utm_medium           text,
  utm_campaign         text,
  targeting            jsonb,
  rules                jsonb,                -- `LinkRule[]`, in order
  split                jsonb,                -- `SplitVariant[]`
  split_ends_at        timestamptz,
  split_goal           text CHECK (split_goal IN ('leads', 'conversions', 'revenue')),
  split_winner         text,                 -- a variant's id, once decided
  expires_at           timestamptz,
  max_clicks           integer CHECK (max_clicks >= 1),
  used_elsewhere       bigint NOT NULL DEFAULT 0, -- visits that count for max_clicks, of the deployment that it came from
  expired_redirect_url text,
  password_hash        text,
  retargeting          jsonb,
  preview              jsonb,                -- `LinkPreview`: the card that link-preview bots get
  redirect_status      smallint NOT NULL DEFAULT 302 CHECK (redirect_status IN (301, 302, 307, 308)),
  forward_query        boolean NOT NULL DEFAULT true,
  forward_path         boolean NOT NULL DEFAULT false,
  append_utm           boolean NOT NULL DEFAULT true,
  append_visitor       boolean NOT NULL DEFAULT true,
  utm_term             text,
  utm_content          text,
  starts_at            timestamptz,          -- before it the link is as an unknown slug
  archived             boolean NOT NULL DEFAULT false,
  -- Query parameters that the redirect adds to the destination besides UTM, such as ref=<slug>.
  extra_query          text,
  created_at           timestamptz NOT NULL, -- unique in its workspace: it is the cursor
  updated_at           timestamptz NOT NULL,
  deleted_at           timestamptz,
  blocked_at           timestamptz,          -- by the operator: visitors get a page that says so
  UNIQUE (workspace_id, created_at)
);
CREATE UNIQUE INDEX links_external_id ON links (workspace_id, external_id)
  WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX links_destination ON links (destination_id, created_at);
CREATE INDEX links_live ON links (workspace_id, created_at DESC) WHERE deleted_at IS NULL;
-- Splits whose winner is not decided.
CREATE INDEX links_split_due ON links (split_ends_at)
  WHERE split_ends_at IS NOT NULL AND split_winner IS NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX links_name ON links (domain_number, slug);
CREATE INDEX links_domain ON links (domain_number) WHERE domain_number <> 0;

-- How the QR code of a link looks. A link without a row has a plain one.
CREATE TABLE link_qr_styles (
  link_id      uuid PRIMARY KEY REFERENCES links (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  color        text NOT NULL,                -- six hexadecimal digits, as background
  background   text NOT NULL,
  shape        text NOT NULL,
  frame        text NOT NULL,
  frame_text   text NOT NULL CHECK (length(frame_text) <= 120),
  logo_from    text NOT NULL CHECK (logo_from IN ('none', 'workspace', 'own')),
  logo         bytea CHECK (length(logo) <= 102400), -- a PNG, the link's own
  CHECK ((logo_from = 'own') = (logo IS NOT NULL))
);

-- Ingest reads changes by transaction id, up to the oldest running one: sequence order is not commit order.
CREATE TABLE link_changes (
  xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id      bigint GENERATED ALWAYS AS IDENTITY,
  -- 'link', 'destination', 'bio_page', 'program', 'alias', 'prefix', 'domain', 'key', 'workspace': what must be read again
  kind    text NOT NULL,
  target_id uuid NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (xid, id)
);
CREATE INDEX link_changes_age ON link_changes (made_at);

CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed uuid := CASE WHEN TG_OP = 'DELETE' THEN OLD.id ELSE NEW.id END;
BEGIN
  INSERT INTO link_changes (kind, target_id) VALUES (TG_ARGV[0], changed);
  PERFORM pg_notify('link_changes', '');
  RETURN NULL;
END $$;

CREATE TRIGGER links_changed AFTER INSERT OR UPDATE OR DELETE ON links
  FOR EACH ROW EXECUTE FUNCTION record_change('link');
CREATE TRIGGER destinations_changed AFTER UPDATE ON destinations
  FOR EACH ROW EXECUTE FUNCTION record_change('destination');
CREATE TRIGGER keys_changed AFTER INSERT OR UPDATE OF revoked_at ON api_keys
  FOR EACH ROW EXECUTE FUNCTION record_change('key');
CREATE TRIGGER workspaces_changed AFTER UPDATE OF suspended_at, tracking, allowed_origins, language ON workspaces
  FOR EACH ROW EXECUTE FUNCTION record_change('workspace');

-- An alias changes with its row in `slugs` and with the address of its link.
CREATE FUNCTION record_alias_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id)
    SELECT 'alias', id FROM unnest(ARRAY[OLD.alias_id, NEW.alias_id]) AS id WHERE id IS NOT NULL;
  PERFORM pg_notify('link_changes', '');
  RETURN NULL;
END $$;
CREATE TRIGGER aliases_changed AFTER UPDATE ON slugs
  FOR EACH ROW WHEN (num_nonnulls(OLD.alias_id, NEW.alias_id) > 0) EXECUTE FUNCTION record_alias_change();

CREATE FUNCTION record_prefix() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id) VALUES ('prefix', NEW.target_id);
  PERFORM pg_notify('link_changes', '');
  RETURN NULL;
END $$;
CREATE TRIGGER prefixes_changed AFTER INSERT ON slugs
  FOR EACH ROW WHEN (NEW.kind = 'prefix') EXECUTE FUNCTION record_prefix();

CREATE FUNCTION record_aliases_of_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id)
    SELECT 'alias', alias_id FROM slugs WHERE target_id = NEW.id AND kind = 'alias';
  RETURN NULL;
END $$;
CREATE TRIGGER links_moved AFTER UPDATE ON links FOR EACH ROW
  WHEN ((OLD.domain_number, OLD.slug, OLD.deleted_at) IS DISTINCT FROM (NEW.domain_number, NEW.slug, NEW.deleted_at))
  EXECUTE FUNCTION record_aliases_of_link();

-- Returns a creation time that no other link of the workspace has. The caller holds the workspace's row lock, or
-- inserts under the unique constraint and retries. A link that was created while the clock was ahead does not count:
-- otherwise all later ones would be ahead as well.
CREATE FUNCTION next_link_time(ws uuid) RETURNS timestamptz LANGUAGE sql AS $$
  SELECT GREATEST(
    date_trunc('microseconds', clock_timestamp()),
    (SELECT max(created_at) + interval '1 microsecond' FROM links
     WHERE workspace_id = ws AND created_at < clock_timestamp() + interval '5 seconds')
  )
$$;

-- Keyed hashes of a link, its password, and a network address that gave this password.
CREATE TABLE password_visitors (
  subject bytea PRIMARY KEY,
  link_id uuid NOT NULL,
  let_in_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX password_visitors_of_link ON password_visitors (link_id, let_in_at DESC);
CREATE INDEX password_visitors_age ON password_visitors (let_in_at);
