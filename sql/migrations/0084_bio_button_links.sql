-- Every short link that a button of a page ever had. Its history is the history of all of them: it is counted together,
-- and goes when the button goes.

CREATE TABLE bio_button_links (
  link_id      uuid PRIMARY KEY REFERENCES links (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  page_id      uuid NOT NULL REFERENCES bio_pages (id) ON DELETE CASCADE,
  -- Null: it was lost before this table was there, and which button of the page it was of is not known.
  button_id    text,
  -- Deleted by its page, which brings it back when it can. One that somebody else deleted stays so.
  set_aside    boolean NOT NULL DEFAULT false
);
CREATE INDEX bio_button_links_page ON bio_button_links (page_id);

-- A trigger, because processes of the release before write buttons too until they are replaced.
CREATE FUNCTION keep_bio_button_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bio_button_links (link_id, workspace_id, page_id, button_id)
  VALUES (NEW.link_id, NEW.workspace_id, NEW.page_id, NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER bio_buttons_linked AFTER INSERT ON bio_buttons FOR EACH ROW
  WHEN (NEW.link_id IS NOT NULL) EXECUTE FUNCTION keep_bio_button_link();

INSERT INTO bio_button_links (link_id, workspace_id, page_id, button_id)
SELECT link_id, workspace_id, page_id, id FROM bio_buttons WHERE link_id IS NOT NULL;

-- Links that buttons lost before: deleted, of no button, and nobody has asked to erase their history. Their campaign is
-- the page's slug, and they lead where their button did, under its label. Where that is no one button's, they go with the
-- page; where the page is gone, at once.
WITH lost AS (
  SELECT l.id, l.workspace_id, l.utm_campaign, l.deleted_at, d.name, d.destination_url
  FROM links l JOIN destinations d ON d.id = l.destination_id
  WHERE l.channel = 'bio' AND l.deleted_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM bio_buttons b WHERE b.link_id = l.id)
    AND NOT EXISTS (SELECT FROM erasures e
      WHERE e.workspace_id = l.workspace_id AND e.kind = 'link' AND e.target_id = l.id)
), found AS (
  INSERT INTO bio_button_links (link_id, workspace_id, page_id, button_id)
  SELECT lost.id, lost.workspace_id, p.id,
    (SELECT CASE WHEN count(*) = 1 THEN min(b.id) END FROM bio_buttons b
     WHERE b.page_id = p.id AND b.type = 'link' AND (b.url = lost.destination_url OR btrim(b.label) = lost.name))
  -- A page made later is another one, under the slug of one that was deleted.
  FROM lost JOIN bio_pages p
    ON p.workspace_id = lost.workspace_id AND p.slug = lost.utm_campaign AND p.created_at < lost.deleted_at
  RETURNING link_id
)
INSERT INTO erasures (workspace_id, kind, target_id)
SELECT workspace_id, 'link', id FROM lost
WHERE id NOT IN (SELECT link_id FROM found)
  AND EXISTS (SELECT FROM slugs s
    WHERE s.slug = lost.utm_campaign AND s.workspace_id = lost.workspace_id AND s.kind = 'bio_page');
