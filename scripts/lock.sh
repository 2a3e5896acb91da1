#!/bin/sh
# Compiles the requirement files with hashes, each held to the versions of the ones before it.
# Arguments go to `uv pip compile`, for instance --upgrade. The files name no package index.
set -eu

cd "$(dirname "$0")/.."
uv=.venv/bin/uv

compile() {
    output=requirements/$1.txt
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header --output-file "$output" "$@"
}

compile uv requirements/uv.in "$@"
compile runtime pyproject.toml "$@"
compile build requirements/build.in "$@"
compile dev requirements/dev.in "$@"
compile bench requirements/bench.in "$@"
compile learn requirements/learn.in "$@"
# What an installation takes: the runtime with every extra, in the versions that are tested.
compile deploy pyproject.toml --all-extras --constraint requirements/runtime.txt --constraint requirements/dev.txt "$@"
# Clients of other makes, each as its own users would have it.
compile clients/apm-cli requirements/clients/apm-cli.in "$@"
compile clients/skills-ref requirements/clients/skills-ref.in "$@"

# Each external scanner has an environment of its own, which `vskill-platform scanners install` makes, so it is held to nothing.
scanners=src/vskill_platform/scanning/external/requirements
for file in requirements/scanners/*.in; do
    compile "../$scanners/$(basename "$file" .in)" "$file" "$@"
done

if grep -n '://' requirements/*.txt requirements/clients/*.txt "$scanners"/*.txt; then
    echo "A requirement file names an address; none may." >&2
    exit 1
fi
