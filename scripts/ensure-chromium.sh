#!/bin/sh
# Sees to it that a Chromium is installed, which the browser tests and the pictures drive.
# What is missing is installed with apt-get when run as root; otherwise this says what to install and fails.
set -eu

has_browser() {
    for program in chromium chromium-browser google-chrome; do
        command -v "$program" >/dev/null 2>&1 && return 0
    done
    return 1
}

install_browser() {
    echo "Installing chromium"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
}

if ! has_browser && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    install_browser
fi
if ! has_browser; then
    echo "The browser tests need Chromium. On Debian, run" >&2
    echo "  sudo apt-get install -y chromium" >&2
    echo "(on Ubuntu, where that is a snap, install google-chrome instead) and then make again." >&2
    exit 1
fi
