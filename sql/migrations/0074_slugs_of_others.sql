-- Every process of ingest reads the slugs of pages and programmes when it starts: among ten million links they took
-- longer to find than a statement may.
CREATE INDEX slugs_of_others ON slugs (slug) WHERE kind <> 'link';
