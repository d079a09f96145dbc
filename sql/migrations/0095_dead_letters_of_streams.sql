-- Which other letters hold events of a letter that is replayed: a batch that was sent twice may have become two.
CREATE INDEX dead_letters_of_streams ON dead_letters (stream_id, sequence);
