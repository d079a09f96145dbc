#!/bin/sh
# Runs a command in the file system of a container, as the image and the pod describe it. Run it in a mount namespace of
# its own: pod-root.sh ROOT CHECKOUT NODE HOSTS MOUNTS ro|rw UID GID GROUPS COMMAND...
#   ROOT    an empty directory
#   NODE    the Node.js of the image
#   HOSTS   file of names, as /etc/hosts
#   MOUNTS  file of volumes: a line "SOURCE TARGET ro|rw" each
set -eu
root=$1 checkout=$2 node=$3 hosts=$4 mounts=$5 access=$6 uid=$7 gid=$8 groups=$9
shift 9

mount_read_only() {
  mount --rbind "$1" "$2"
  mount -o remount,bind,ro "$2"
}

mount -t tmpfs -o mode=0755 image "$root"
for name in bin lib lib64 sbin; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$root/"
  elif [ -d "/$name" ]; then
    mkdir "$root/$name"
    mount_read_only "/$name" "$root/$name"
  fi
done
mkdir "$root/usr" "$root/etc" "$root/app" "$root/proc" "$root/dev" "$root/sys" "$root/data" "$root/tmp"
mount_read_only /usr "$root/usr"
mount_read_only "$checkout" "$root/app"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
for name in ld.so.cache nsswitch.conf passwd group ssl; do
  [ ! -e "/etc/$name" ] || cp -a "/etc/$name" "$root/etc/"
done
cp "$hosts" "$root/etc/hosts"
mkdir "$root/programs"
cp -P "$node" "$root/programs/node"
# In the image it is a link to the file, which can be executed there (cli/programs/assemble.ts).
printf '#!/bin/sh\nexec node --disable-warning=ExperimentalWarning /app/dist/hoplog.js "$@"\n' >"$root/programs/hoplog"
chmod 0755 "$root/programs/hoplog"
mount --bind "$root/programs" "$root/usr/local/bin"

while read -r source target rights; do
  mkdir -p "$root$target"
  mount --bind "$source" "$root$target"
  [ "$rights" = rw ] || mount -o remount,bind,ro "$root$target"
done <"$mounts"
[ "$access" = rw ] || mount -o remount,ro "$root"

exec chroot "$root" env -C /app \
  setpriv --reuid "$uid" --regid "$gid" --groups "$groups" --no-new-privs --bounding-set -all --inh-caps -all \
  --pdeathsig KILL "$@"
