#!/bin/sh
# Sees to it that a PostgreSQL server is installed; the tests start one of their own and need no running one.
# What is missing is installed with apt-get when run as root; otherwise this says what to install and fails.
set -eu

has_server() {
    for program in /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb; do
        [ -x "$program" ] && return 0
    done
    command -v initdb >/dev/null 2>&1
}

# The package would create and start a cluster for the machine, which nobody asked for.
forbid_cluster() {
    [ -e /etc/postgresql-common/createcluster.conf ] && return
    mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
}

install_server() {
    echo "Installing postgresql"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    forbid_cluster
    apt-get update -qq
    apt-get install -y -qq -o Dpkg::Options::=--force-confold postgresql
}

if ! has_server && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    install_server
fi
if ! has_server; then
    echo "The tests need a PostgreSQL server, version 13 or newer. On Debian or Ubuntu, run" >&2
    echo "  sudo apt-get install -y postgresql" >&2
    echo "and then make again." >&2
    exit 1
fi
