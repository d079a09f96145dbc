-- Link-in-bio pages. The short links of their buttons are ordinary links on the channel `bio`.

CREATE TABLE bio_pages (
  id            uuid PRIMARY KEY,
  workspace_id  uuid NOT NULL REFERENCES workspaces (id),
  slug          text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9-]{3,40}$'),
  title         text NOT NULL,
  bio           text NOT NULL,
  avatar_url    text,
  theme         jsonb NOT NULL,
  social_links  jsonb NOT NULL,
  is_published  boolean NOT NULL,
  show_branding boolean NOT NULL,
  external_id   text CHECK (length(external_id) BETWEEN 1 AND 200),
  metadata      jsonb,
  created_at    timestamptz NOT NULL, -- unique in its workspace: it is the cursor
  updated_at    timestamptz NOT NULL,
  UNIQUE (workspace_id, created_at)
);
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

-- Whoever changes buttons touches their page too, so that one change tells of both.
CREATE TRIGGER bio_pages_changed AFTER INSERT OR UPDATE OR DELETE ON bio_pages
  FOR EACH ROW EXECUTE FUNCTION note_change('bio_page');

-- A page shows its buttons' short links, which the links endpoints can rename and delete.
CREATE FUNCTION note_bio_link_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_changes (kind, target_id) SELECT 'bio_page', page_id FROM bio_buttons WHERE link_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER bio_links_changed AFTER UPDATE OF slug, deleted_at ON links FOR EACH ROW
  WHEN (NEW.channel = 'bio') EXECUTE FUNCTION note_bio_link_change();
