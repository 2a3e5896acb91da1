#!/bin/sh
# Creates the virtual environment named by the first argument with the first Python that is new enough.
# What is missing is installed with apt-get when run as root; otherwise this says what to install and fails.
# The distribution's own Python comes first: it is built with profile-guided optimisation, and scans a quarter faster than one
# that pyenv compiled with its defaults.
set -eu

venv=${1:?usage: create-venv.sh FOLDER}
distribution_python=/usr/bin/python3

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

can_create_venv() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

# Prints the first candidate that can create an environment, else the first that is new enough, else nothing.
find_python() {
    fallback=
    for candidate in "$distribution_python" python3 python3.14 python3.13 python3.12 python3.11; do
        is_new_enough "$candidate" || continue
        if can_create_venv "$candidate"; then
            echo "$candidate"
            return
        fi
        fallback=${fallback:-$candidate}
    done
    echo "$fallback"
}

# Prints the Debian packages that are still needed, separated by spaces.
list_missing_packages() {
    python=$(find_python)
    if [ -z "$python" ] && command -v python3 >/dev/null 2>&1; then
        printf 'python3.11 python3.11-venv '
    elif [ -z "$python" ]; then
        printf 'python3 python3-venv '
    elif ! can_create_venv "$python"; then
        printf '%s-venv ' "$(basename "$python")"
    fi
    command -v git >/dev/null 2>&1 || printf 'git '
}

install_packages() {
    echo "Installing $*"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update -qq
    apt-get install -y -qq "$@"
}

fail_with_advice() {
    echo "vskill-platform needs git and Python 3.11 or newer with its venv module. On Debian or Ubuntu, run" >&2
    echo "  sudo apt-get install -y $1" >&2
    echo "and then make again." >&2
    exit 1
}

can_install() {
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1
}

if can_install && is_new_enough "$distribution_python" && ! can_create_venv "$distribution_python"; then
    install_packages python3-venv || echo "Going on without $distribution_python"
fi
missing=$(list_missing_packages)
if [ -n "$missing" ] && can_install; then
    # shellcheck disable=SC2086  # a list of package names
    install_packages $missing
    missing=$(list_missing_packages)
fi
[ -z "$missing" ] || fail_with_advice "${missing% }"

python=$(find_python)
echo "Creating $venv with $("$python" --version)"
"$python" -m venv --clear "$venv"
