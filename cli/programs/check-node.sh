#!/bin/sh
# Stops the build if the Node.js of npm's packages cannot start on this machine, or cannot run TypeScript. A shell
# script, because without Node.js nothing else can report that.
node cli/programs/check-node.js && exit 0
if ! node -e '' >/dev/null 2>&1; then
  echo 'hoplog: the Node.js of the npm packages does not start on this machine: use macOS, or Linux with glibc 2.28 or newer (not musl, as Alpine Linux), or run the container image' >&2
fi
exit 1
