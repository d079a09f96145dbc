-- Deliveries of the clicks on a link, for the erasing of its history: a webhook may have a million of them waiting.
CREATE INDEX webhook_deliveries_of_link ON webhook_deliveries (((body::json #>> '{data,link_id}')::uuid))
  WHERE type = 'click.created';
