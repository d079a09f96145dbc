"""Stores clicks of a link with the state after them, as the guide says. Run with the installed wheel by kills.test.ts."""

import json
import os
import sqlite3
import sys

from hoplog import Hoplog

_, link_id, file = sys.argv
database = sqlite3.connect(file, timeout=5, isolation_level=None)
stored = database.execute("SELECT state FROM states").fetchone()
hoplog = Hoplog(key=os.environ["HOPLOG_KEY"], retries=8)
poll = hoplog.clicks.poll(link_ids=[link_id], interval=0.1, state=json.loads(stored[0]) if stored else None)
for clicks, state in poll.batches():
    database.execute("BEGIN IMMEDIATE")
    database.executemany("INSERT INTO clicks VALUES (?, ?)", [(one["id"], one["visitor_id"]) for one in clicks])
    database.execute("DELETE FROM states")
    database.execute("INSERT INTO states VALUES (?)", (json.dumps(state),))
    database.execute("COMMIT")
