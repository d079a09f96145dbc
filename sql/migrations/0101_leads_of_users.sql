-- The deliveries that tell of a user's signup, for the erasing of who signed up.
CREATE INDEX webhook_deliveries_of_lead ON webhook_deliveries ((body::json #>> '{data,external_user_id}')) WHERE type = 'lead.created';
