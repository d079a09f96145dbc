-- Every range of the log that is stored asks whether anything was erased since its oldest event.
CREATE INDEX erasures_requested ON erasures (requested_at);
