#!/usr/bin/env bash
# Prints the address of the Debian archive that this machine's apt uses.
set -euo pipefail
apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 == "Debian" { print $NF; exit }'
