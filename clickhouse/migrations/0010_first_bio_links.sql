-- The first click that first_channel tells of may be on a bio button, whose history can be deleted (no other link's can).
-- first_bio_links: the buttons that the person clicked before any other link; most people's first click is on another, so most
-- rows have none. first_other_channel: of the first click on another link, which is the first once all of those buttons are
-- deleted. Both stand on every part, for ltv.
-- Rows from before, and of workers of the release before, don't know the buttons. Where the order is credited to one and began
-- with one, they are taken for the same, as until now: deleted history stays out. Anything else is taken for not deleted.
ALTER TABLE {{database}}.order_credits_by_time {{on_cluster}}
  ADD COLUMN IF NOT EXISTS first_bio_links Array(UUID) DEFAULT if(first_channel = 'bio' AND channel = 'bio', [link_id], []),
  ADD COLUMN IF NOT EXISTS first_other_channel LowCardinality(String);
