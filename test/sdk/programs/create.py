"""Creates a folder, and prints its id. Run with the installed wheel by kills.test.ts."""

import os
import sys

from hoplog import Hoplog

print(Hoplog(key=os.environ["HOPLOG_KEY"]).folders.create({"name": sys.argv[1]})["id"])
