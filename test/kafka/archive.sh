#!/usr/bin/env bash
# Starts a broker and saves Java's class data archive (target/kafka.jsa) and a formatted broker directory
# (target/formatted). Brokers that use them start with half the work. The tests also run
# without them.
set -euo pipefail
cd "$(dirname "$0")/target"
[ ! -f kafka.jsa ] || [ ! -d formatted ] || exit 0

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
port=$((20000 + RANDOM % 10000))
cat >"$home/server.properties" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$home/data
END
# The same options as in test/support/kafka.ts.
java=(java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC)
"${java[@]}" -cp "$PWD/dependency/*" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c "$home/server.properties" &>"$home/log"
cp -r "$home/data" "$home/formatted"
"${java[@]}" -Xshare:auto -XX:ArchiveClassesAtExit="$home/kafka.jsa" -cp "$PWD/dependency/*" kafka.Kafka "$home/server.properties" &>>"$home/log" &
broker=$!
for _ in $(seq 1 600); do
  kill -0 "$broker"
  if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  sleep 0.1
done
kill "$broker"
wait "$broker" || true
rm -rf formatted
mv "$home/formatted" formatted
mv "$home/kafka.jsa" kafka.jsa
