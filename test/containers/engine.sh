#!/usr/bin/env bash
# A Docker engine for machines without one: Debian's, in a root directory, network and mounts of its own. Needs root,
# Linux, debootstrap, and apt sources of Debian. Everything is under $ENGINE_DIR.
#
#   engine.sh start            makes the root directory at the first start (1 min), starts the engine
#   engine.sh stop             stops it and its containers; images and volumes stay
#   engine.sh run COMMAND...   runs a command in the engine's network, where published ports are on 127.0.0.1
#   eval "$(engine.sh env)"    lets `docker` talk to it, with Compose and buildx
set -euo pipefail

ENGINE_DIR=${ENGINE_DIR:-/var/lib/hoplog-engine}
ROOT=$ENGINE_DIR/root
RUN=$ENGINE_DIR/run
NETWORK=hoplog-engine
# The engine's Compose needs healthcheck.start_interval, so engine 25 or later.
SUITE=trixie
PACKAGES=docker.io,docker-cli,docker-buildx,docker-compose,iptables,ca-certificates,iproute2,procps
# Addresses of the pair of links between the machine and the engine.
OUTER=10.213.77.1
INNER=10.213.77.2
CHECKOUT=$(cd "$(dirname "$0")/../.." && pwd)

say() { printf 'engine: %s\n' "$1" >&2; }

make_root() {
  [ -f "$ENGINE_DIR/made" ] && return
  command -v debootstrap >/dev/null || { say 'debootstrap is not installed (apt-get install debootstrap)'; exit 1; }
  rm -rf "$ROOT"
  mkdir -p "$ROOT"
  say "making $ROOT of Debian $SUITE"
  debootstrap --variant=minbase --include="$PACKAGES" "$SUITE" "$ROOT" "$(bash "$CHECKOUT/test/containers/mirror.sh")" \
    >"$ENGINE_DIR/debootstrap.log" 2>&1 || { tail -5 "$ENGINE_DIR/debootstrap.log" >&2; exit 1; }
  touch "$ENGINE_DIR/made"
}

# The engine's outgoing packets carry the machine's address.
make_network() {
  ip netns list | grep -q "^$NETWORK\b" && return
  ip netns add "$NETWORK"
  ip link add hoplog-outer type veth peer name hoplog-inner netns "$NETWORK"
  ip addr add "$OUTER/30" dev hoplog-outer
  ip link set hoplog-outer up
  ip -n "$NETWORK" addr add "$INNER/30" dev hoplog-inner
  ip -n "$NETWORK" link set lo up
  ip -n "$NETWORK" link set hoplog-inner up
  ip -n "$NETWORK" route add default via "$OUTER"
  echo 1 >/proc/sys/net/ipv4/ip_forward
  chroot "$ROOT" iptables -t nat -A POSTROUTING -s "$INNER/30" ! -d "$INNER/30" -j MASQUERADE
}

# In a mount namespace of its own: a container's root directory can't be made below a mere chroot.
inside() {
  mount --make-rprivate /
  mount --bind "$ROOT" "$ROOT"
  mount -t proc proc "$ROOT/proc"
  mount --rbind /sys "$ROOT/sys"
  mount --rbind /dev "$ROOT/dev"
  mount -t tmpfs tmpfs "$ROOT/run"
  mkdir -p "$ROOT/run/engine" "$ROOT/var/lib/docker" "$ROOT/old"
  mount --bind "$RUN" "$ROOT/run/engine"
  mount --bind "$ENGINE_DIR/data" "$ROOT/var/lib/docker"
  # Directories that Compose mounts into containers have the same path for the engine.
  local shared
  for shared in /tmp "/$(cut -d/ -f2 <<<"$CHECKOUT")"; do
    mkdir -p "$ROOT$shared"
    mount --rbind "$shared" "$ROOT$shared"
  done
  cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
  cd "$ROOT"
  pivot_root . old
  umount -l /old
  exec dockerd -H unix:///run/engine/docker.sock --cgroup-parent hoplog-engine --pidfile /run/engine/docker.pid
}

# The kernel divides processors among the engine as a whole and each process outside. With the weight of one process,
# brokers and databases starve beside other work; this is that of five.
weigh() {
  local v1=/sys/fs/cgroup/cpu v2=/sys/fs/cgroup
  if [ -e "$v1/cpu.shares" ]; then
    mkdir -p "$v1/hoplog-engine" && echo 5120 >"$v1/hoplog-engine/cpu.shares"
  elif grep -qw cpu "$v2/cgroup.subtree_control" 2>/dev/null; then
    mkdir -p "$v2/hoplog-engine" && echo 500 >"$v2/hoplog-engine/cpu.weight"
  fi
}

answers() { [ -S "$RUN/docker.sock" ] && [ "$(curl -s --unix-socket "$RUN/docker.sock" http://engine/_ping)" = OK ]; }

start() {
  weigh
  answers && return
  mkdir -p "$RUN" "$ENGINE_DIR/data"
  make_root
  make_network
  setsid nsenter --net="/run/netns/$NETWORK" unshare --mount bash "$0" inside >"$ENGINE_DIR/dockerd.log" 2>&1 &
  local tries
  for tries in $(seq 100); do
    answers && { say "answers at $RUN/docker.sock"; return; }
    sleep 0.2
  done
  say "does not answer after $tries tries:"
  tail -5 "$ENGINE_DIR/dockerd.log" >&2
  exit 1
}

stop() {
  answers || return 0
  local pid
  pid=$(curl -s --unix-socket "$RUN/docker.sock" http://engine/_ping >/dev/null && pgrep -xf 'dockerd -H unix:///run/engine/docker.sock .*')
  kill "$pid"
  while [ -d "/proc/$pid" ]; do sleep 0.2; done
}

print_env() {
  mkdir -p "$ENGINE_DIR/config/cli-plugins"
  local plugin
  for plugin in docker-compose docker-buildx; do
    ln -sf "$ROOT/usr/libexec/docker/cli-plugins/$plugin" "$ENGINE_DIR/config/cli-plugins/$plugin"
  done
  printf 'export DOCKER_HOST=unix://%s/docker.sock DOCKER_CONFIG=%s/config PATH=%s/bin:$PATH\n' "$RUN" "$ENGINE_DIR" "$ENGINE_DIR"
  mkdir -p "$ENGINE_DIR/bin"
  ln -sf "$ROOT/usr/bin/docker" "$ENGINE_DIR/bin/docker"
}

case "${1:-}" in
  start) start ;;
  stop) stop ;;
  inside) inside ;;
  env) print_env ;;
  run) shift; exec nsenter --net="/run/netns/$NETWORK" "$@" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
