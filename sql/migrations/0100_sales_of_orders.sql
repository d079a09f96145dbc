-- The deliveries that tell of an order, for the erasing of who made it.
CREATE INDEX webhook_deliveries_of_order ON webhook_deliveries ((body::json #>> '{data,order_id}')) WHERE type = 'sale.created';
