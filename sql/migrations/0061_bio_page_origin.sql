-- Pages of the API are not the console's to show or edit. All that are there came by the API.

ALTER TABLE bio_pages ADD COLUMN made_in text NOT NULL DEFAULT 'api' CHECK (made_in IN ('api', 'console'));
CREATE INDEX bio_pages_of_console ON bio_pages (workspace_id, created_at) WHERE made_in = 'console';
