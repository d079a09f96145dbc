-- What the erased visitor alone was known by, until the erasure is done: orders that name only that may still be on their way.
ALTER TABLE erasures ADD COLUMN emails text[] NOT NULL DEFAULT '{}', ADD COLUMN users text[] NOT NULL DEFAULT '{}';
