"""Run the peers and print a line for each: `python -m benchmarks.peers [name] [--jobs N]`."""

from __future__ import annotations

import argparse
import sys

from benchmarks.peers import PEERS, Peer, PeerFailed


def main() -> int:
    arguments = read_arguments()
    chosen = [PEERS[arguments.name]] if arguments.name else list(PEERS.values())
    return max(print_run(peer, arguments.jobs) for peer in chosen)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("name", nargs="?", choices=list(PEERS))
    parser.add_argument("--jobs", type=int, default=4000)
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error("--jobs must be at least 1")
    return arguments


def print_run(peer: Peer, jobs: int) -> int:
    try:
        result = peer.run(jobs)
    except PeerFailed as failure:
        print(f"{peer.name:13} FAILED: {failure}", file=sys.stderr, flush=True)
        return 1
    delivery = "at least once" if peer.at_least_once else "at most once"
    print(
        f"{peer.name:13} {result.jobs / result.seconds:8,.0f} jobs/s  ({result.jobs} in {result.seconds:.2f} s)  "
        f"{delivery}; {peer.durability}; {result.note}",
        flush=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
