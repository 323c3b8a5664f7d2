#!/usr/bin/env bash
# Counts the fsyncs of a stored turn, as the kernel sees them: the difference
# between 1100 and 100 turns, divided by 1000, so that opening and closing the
# database does not count. Needs strace.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
command -v strace >/dev/null || { echo "bench/fsyncs.sh: strace is missing: sudo apt-get install strace" >&2; exit 1; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test -c -o "$dir/bench.test" .

# count prints the fsyncs of so many turns of a benchmark.
count() {
  strace -f -qq -c -U calls -o "$dir/calls" -e trace=fsync,fdatasync \
    "$dir/bench.test" -test.run '^$' -test.bench "^$1\$" -test.benchtime "${2}x" >/dev/null
  awk '$2 == "total" { print $1 }' "$dir/calls"
}

for turn in BenchmarkStoredTextTurn BenchmarkStoredToolTurn; do
  few=$(count "$turn" 100)
  many=$(count "$turn" 1100)
  awk -v turn="$turn" -v n="$((many - few))" 'BEGIN { printf "%s: %.3f fsyncs a turn\n", turn, n / 1000 }'
done
