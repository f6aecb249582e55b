#!/usr/bin/env bash
# Records sessions with real drivers in a QEMU machine. Run by hand; needs Debian's apt-get and some 600 MB.
# Usage: tests/vm/record.sh OUTDIR     then compare OUTDIR/*.json with fixtures/netlink and copy what is to stay.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
(($# == 1)) || {
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
}
mkdir -p "$1"
out=$(readlink -f "$1")

# executable KIND: path of what cargo built, out of its messages.
executable() { sed -n "s/.*\"kind\":\[\"$1\"\].*\"executable\":\"\([^\"]*\)\".*/\1/p" | tail -n 1; }

tests=$(cargo test --lib --no-run --message-format=json | executable lib)
program=$(cargo build --message-format=json | executable bin)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strip -o "$work/netdoctor-tests" "$tests"
strip -o "$work/netdoctor" "$program"
tests/vm/run.sh -a "$work/netdoctor-tests" -a "$work/netdoctor" tests/vm/sessions.sh "$out"
ls -l "$out"
