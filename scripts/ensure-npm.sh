#!/bin/sh
# Sees to it that npm is installed, which fetches the clients that `make test-clients` runs; they run on Nodes of their own.
# What is missing is installed with apt-get when run as root; otherwise this says what to install and fails.
set -eu

has_npm() {
    command -v npm >/dev/null 2>&1
}

install_npm() {
    echo "Installing npm"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends npm
}

if ! has_npm && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    install_npm
fi
if ! has_npm; then
    echo "The tests with clients of other makes need npm, version 7 or newer. On Debian or Ubuntu, run" >&2
    echo "  sudo apt-get install -y npm" >&2
    echo "and then make again." >&2
    exit 1
fi
