#!/bin/sh
# Installs the npm packages that requirements/clients/NAME pins, by their digests, into FOLDER/NAME.
# No package's own scripts are run.
set -eu

name=${1:?usage: install-npm-client.sh NAME FOLDER}
folder=${2:?usage: install-npm-client.sh NAME FOLDER}/$name

echo "Installing $name"
rm -rf "$folder"
mkdir -p "$folder"
cp "requirements/clients/$name/package.json" "requirements/clients/$name/package-lock.json" "$folder"
cd "$folder"
npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
