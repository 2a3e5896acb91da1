#!/bin/sh
# Writes the package-lock.json of each folder in requirements/clients that has a package.json: versions and digests, and no address.
set -eu

cd "$(dirname "$0")/../requirements/clients"
for manifest in */package.json; do
    folder=$(dirname "$manifest")
    (cd "$folder" && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved \
        --no-audit --no-fund --loglevel=error)
done

if grep -n '"resolved"' ./*/package-lock.json; then
    echo "A lock names an address; none may." >&2
    exit 1
fi
