#!/bin/sh
# Like the real image: an argument that is not a command, or a file that can't be executed, goes to Node.js.
set -e
if [ "${1#-}" != "${1}" ] || [ -z "$(command -v "${1}")" ] || { [ -f "${1}" ] && ! [ -x "${1}" ]; }; then
  set -- node "$@"
fi
exec "$@"
