#!/usr/bin/env bash
# Makes the base images of Dockerfile and docker-compose.yml from packages, under the same tags, for engines that no
# image registry answers. README.md says how each differs from the real one. Images that the engine has stay.
#
#   stand-ins.sh           all of them
#   stand-ins.sh node      that one and what it is made of
set -euo pipefail
cd "$(dirname "$0")"

CHECKOUT=$(cd ../.. && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

say() { printf 'stand-ins: %s (%ss)\n' "$1" "$SECONDS" >&2; }
has() { docker image inspect "$1" >/dev/null 2>&1; }

# Prints the tag of an image of the deployment.
tag_of() { sed -nE "s|^[A-Z]+_IMAGE=($1:[^@]+).*|\1|p" "$CHECKOUT/deploy/images.env"; }

# Makes Debian's minimal system of a suite.
debian() {
  local suite=$1 script=/usr/share/debootstrap/scripts/$1
  has "hoplog-stand-in/debian:$suite" && return
  # A suite newer than this debootstrap uses the script of the newest one that it knows.
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$WORK/$suite" "$(bash mirror.sh)" "$script" \
    >"$WORK/$suite.log" 2>&1 || { tail -5 "$WORK/$suite.log" >&2; exit 1; }
  # For mirrors that are behind or frozen: the same settings as this machine's apt.
  apt-config dump | grep '^Acquire::Check-' >"$WORK/$suite/etc/apt/apt.conf.d/90-machine" || true
  rm -rf "$WORK/$suite"/var/cache/apt/*.bin "$WORK/$suite"/var/cache/apt/archives/*.deb
  tar -C "$WORK/$suite" -c . | docker import - "hoplog-stand-in/debian:$suite" >/dev/null
  rm -rf "${WORK:?}/$suite"
  say "debian $suite"
}

# $1: directory here with a Dockerfile and what it copies; $2: the image. Its build context is in $WORK/$1.
build() {
  local context=$WORK/$1 tag
  tag=$(tag_of "$2")
  [ -n "$tag" ] || { say "no file names $2"; exit 1; }
  has "$tag" && { say "$tag is there"; return; }
  mkdir -p "$context"
  "prepare_$1" "$context"
  cp -r "stand-ins/$1/." "$context"
  docker build --quiet --tag "$tag" "$context" >/dev/null
  say "$tag"
}

# The Node.js of the checkout's packages, and npm 10 from the registry that this machine's npm uses.
prepare_node() {
  debian bookworm
  cp "$CHECKOUT/node_modules/node/bin/node" "$1/node"
  npm install --prefix "$1/npm" --no-audit --no-fund --no-save --silent npm@10
  cp "$(ca_file)" "$1/authorities.crt"
}

# The certificate authorities that this machine's npm trusts.
ca_file() {
  local file
  file=$(npm config get cafile)
  [ -f "$file" ] || file=/etc/ssl/certs/ca-certificates.crt
  printf '%s' "$file"
}

prepare_postgres() { debian forky; }
prepare_nginx() { debian forky; }
prepare_caddy() { debian forky; }
prepare_prometheus() { debian forky; }

# The broker and its tools from Maven Central.
prepare_kafka() {
  debian bookworm
  cp stand-ins/kafka/pom.xml "$1/pom.xml"
  mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies -DoutputDirectory="$1/libs"
}

# The library of the checkout's packages, started as npm start does.
prepare_clickhouse() {
  build node node
  docker tag "$(tag_of node)" hoplog-stand-in/node
  mkdir -p "$1/node_modules/@chdb" "$1/node_modules/@yuuang"
  cp -r "$CHECKOUT"/node_modules/@chdb/lib-* "$1/node_modules/@chdb/"
  cp -r "$CHECKOUT/node_modules/ffi-rs" "$1/node_modules/"
  cp -r "$CHECKOUT"/node_modules/@yuuang/* "$1/node_modules/@yuuang/"
  cp "$CHECKOUT"/cli/embedded/{clickhouse-child,mappings}.ts "$1/"
}

one() {
  case "$1" in
    node) build node node ;;
    postgres) build postgres postgres ;;
    kafka) build kafka apache/kafka ;;
    clickhouse) build clickhouse clickhouse/clickhouse-server ;;
    nginx) build nginx nginxinc/nginx-unprivileged ;;
    caddy) build caddy caddy ;;
    prometheus) build prometheus prom/prometheus ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
}

for name in "${@:-node postgres kafka clickhouse nginx caddy prometheus}"; do
  for each in $name; do one "$each"; done
done
