-- Versions of the order whose credits may stand in ClickHouse, each with its number of parts: noted before they are written,
-- so that the next version replaces them also where nobody knows whether they arrived. Null: attributed before this.
ALTER TABLE orders ADD COLUMN noted_credits jsonb;
