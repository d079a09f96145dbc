-- Link-in-bio pages. The short links of their buttons are ordinary links on the channel `bio`.

CREATE TABLE bio_pages (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  slug          text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9-]{3,40}$'),
  title         text NOT NULL,
  bio           text NOT NULL,
  avatar_url    text,
  avatar_width  integer CHECK (avatar_width IS NULL OR avatar_url IS NOT NULL), -- pixels
  avatar_height integer CHECK ((avatar_height IS NULL) = (avatar_width IS NULL)),
  theme         jsonb NOT NULL,
  social_links  jsonb NOT NULL,
  is_published  boolean NOT NULL,
  show_branding boolean NOT NULL,
  language      text -- null: as the workspace's
                CHECK (language IN ('en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'ar')),
  external_id   text CHECK (length(external_id) BETWEEN 1 AND 200),
  metadata      jsonb,
  created_at    timestamptz NOT NULL, -- unique in its workspace: it is the cursor
  updated_at    timestamptz NOT NULL,
  made_in       text NOT NULL DEFAULT 'api' CHECK (made_in IN ('api', 'console')), -- the console shows and edits its own
  UNIQUE (workspace_id, created_at)
);
CREATE INDEX bio_pages_of_console ON bio_pages (workspace_id, created_at) WHERE made_in = 'console';
CREATE UNIQUE INDEX bio_pages_external_id ON bio_pages (workspace_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE bio_buttons (
  page_id      uuid NOT NULL REFERENCES bio_pages (id) ON DELETE CASCADE,
  id           text NOT NULL CHECK (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  position     smallint NOT NULL,
  type         text NOT NULL CHECK (type IN ('link', 'section')),
  label        text NOT NULL,
  url          text CHECK ((url IS NULL) = (type = 'section')),
  emoji        text,
  image_url    text,
  link_id      uuid REFERENCES links (id), -- null, or of a deleted link: the button leads straight to its URL
  PRIMARY KEY (page_id, id)
);
CREATE INDEX bio_buttons_link ON bio_buttons (link_id) WHERE link_id IS NOT NULL;

-- Every short link that a button of a page ever had. Their clicks are counted together and erased with the button.
CREATE TABLE bio_button_links (
  link_id      uuid PRIMARY KEY REFERENCES links (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  page_id      uuid NOT NULL REFERENCES bio_pages (id) ON DELETE CASCADE,
  button_id    text NOT NULL,
  -- Deleted by its page, which restores it when it can. A link that another call deleted stays deleted.
  set_aside    boolean NOT NULL DEFAULT false
);
CREATE INDEX bio_button_links_page ON bio_button_links (page_id);

-- Uploaded pictures of pages and assets, as re-encoded. A page stores `/assets/<name>`.
CREATE TABLE pictures (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name         text NOT NULL,
  format       text NOT NULL CHECK (format IN ('jpg', 'webp')),
  content      bytea NOT NULL CHECK (octet_length(content) <= 2097152),
  width        integer NOT NULL, -- pixels
  height       integer NOT NULL,
  created_at   timestamptz NOT NULL,
  used_at      timestamptz NOT NULL, -- last upload, or last save of a page or asset that has it
  PRIMARY KEY (workspace_id, name),
  -- Browsers keep a picture for a year: its name never gets other bytes, not even from an archive.
  CHECK (name = encode(sha256(content), 'hex') || '.' || format)
);
ALTER TABLE pictures ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed already
CREATE INDEX pictures_name ON pictures (name);
CREATE INDEX pictures_used_at ON pictures (used_at);

CREATE FUNCTION keep_bio_button_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bio_button_links (link_id, workspace_id, page_id, button_id)
  VALUES (NEW.link_id, NEW.workspace_id, NEW.page_id, NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER bio_buttons_linked AFTER INSERT ON bio_buttons FOR EACH ROW
  WHEN (NEW.link_id IS NOT NULL) EXECUTE FUNCTION keep_bio_button_link();

-- A change of buttons touches their page too, so that one change record covers both.
CREATE TRIGGER bio_pages_changed AFTER INSERT OR UPDATE OR DELETE ON bio_pages
  FOR EACH ROW EXECUTE FUNCTION record_change('bio_page');

-- A page shows its buttons' short links, which can be renamed, deleted, and moved to another domain.
CREATE FUNCTION record_bio_link_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id) SELECT 'bio_page', page_id FROM bio_buttons WHERE link_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER bio_links_changed AFTER UPDATE OF slug, domain_number, deleted_at ON links FOR EACH ROW
  WHEN (NEW.channel = 'bio') EXECUTE FUNCTION record_bio_link_change();
