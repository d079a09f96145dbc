-- What the report of a purchase told of its buyer's email, while the purchase waits for its signup: its order may be one that was
-- tracked with another email, or none.
ALTER TABLE purchases ADD COLUMN email text;
