#!/bin/sh
# Runs a command where there is no network but loopback, if this machine allows that; otherwise plainly, and says so.
set -eu

if unshare --map-root-user --net -- ip link set lo up 2>/dev/null; then
    exec unshare --map-root-user --net -- sh -c 'ip link set lo up && exec "$@"' alone "$@"
fi
echo "This machine does not allow a network of one's own (unshare -rn, ip): running with the network that there is." >&2
exec "$@"
