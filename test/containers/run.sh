#!/usr/bin/env bash
# npm run test:containers: builds the image and runs the whole docker-compose.yml, then a test on containers. Uses the
# running engine, else Debian's (engine.sh), and images from their registries, else stand-ins (stand-ins.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."

run=()
if ! docker info >/dev/null 2>&1; then
  bash test/containers/engine.sh start
  eval "$(bash test/containers/engine.sh env)"
fi
# Published ports of an engine with a network of its own are reachable only in that network.
case "${DOCKER_HOST:-}" in *"${ENGINE_DIR:-/var/lib/hoplog-engine}"*) run=(bash test/containers/engine.sh run) ;; esac

has() { docker image inspect "$1" >/dev/null 2>&1 || timeout 120 docker pull --quiet "$1" >/dev/null 2>&1; }
export COMPOSE_FILE=docker-compose.yml
export COMPOSE_ENV_FILES=deploy/images.env
for image in $(sed -n 's/^[A-Z]*_IMAGE=//p' deploy/images.env); do
  has "$image" && continue
  printf 'no registry gives %s: stand-ins\n' "$image"
  bash test/containers/stand-ins.sh
  COMPOSE_FILE=docker-compose.yml:test/containers/stand-ins.yml
  # By tag: a stand-in has no digest of a registry.
  COMPOSE_ENV_FILES=/dev/null
  break
done

# Volumes of its own. Its ports and its network are those of any deployment: no other may run on this engine.
export COMPOSE_PROJECT_NAME=hoplog-test-containers
"${run[@]}" npx vitest run --config test/containers/vitest.config.ts "$@"

# The tests' own brokers and databases as containers: TLS and SASL, which docker-compose.yml does not use. Ryuk is an
# image that cleans up after a run that was killed.
if [ $# -eq 0 ]; then
  npm run --silent build
  TEST_STORES=containers TESTCONTAINERS_RYUK_DISABLED=true "${run[@]}" npx vitest run test/kafka/secure.test.ts
fi
