-- Which worker processes live, so that they share the lanes. Only a hint: what keeps a lane safe is its epoch.
CREATE TABLE live_workers (
  consumer   text NOT NULL,
  holder     text NOT NULL, -- as in log_lanes.held_by
  live_until timestamptz NOT NULL,
  PRIMARY KEY (consumer, holder)
);
