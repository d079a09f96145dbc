-- Deliveries that name a visitor, for the erasing of the visitor.
CREATE INDEX webhook_deliveries_of_visitor ON webhook_deliveries (((body::json #>> '{data,visitor_id}')::uuid))
  WHERE type IN ('click.created', 'lead.created', 'sale.created');
