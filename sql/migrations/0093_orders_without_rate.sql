-- Orders whose credits were written without revenue because no rate was set for their currency: they are attributed anew when
-- one is.
ALTER TABLE orders ADD COLUMN without_rate boolean NOT NULL DEFAULT false;
CREATE INDEX orders_without_rate ON orders (currency) WHERE without_rate;
