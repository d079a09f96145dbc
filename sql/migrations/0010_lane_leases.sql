-- Who works a lane at present. The lease only says when another worker may try: what keeps a lane safe is its
-- epoch, which every write of a holder names.
ALTER TABLE log_lanes
  ADD COLUMN held_by text,
  ADD COLUMN held_until timestamptz;
