-- A webhook is disabled when it failed on five days and not only at the two ends of five.
ALTER TABLE webhooks
  ADD COLUMN failing_days integer NOT NULL DEFAULT 0, -- of UTC with a failed attempt since the last good one
  ADD COLUMN failed_on    date;                       -- the newest of them
