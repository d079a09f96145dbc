"""Prints the ids of each page of links, a page a line. Run with the installed wheel by kills.test.ts."""

import json
import os

from hoplog import Hoplog

hoplog = Hoplog(key=os.environ["HOPLOG_KEY"], retries=8)
for page in hoplog.links.list(channel="slack", limit=25).pages():
    print(json.dumps([link["id"] for link in page["links"]]), flush=True)
