#!/bin/sh
# valgrind's memcheck over the tests of the files with `unsafe` code (the table in docs/reliability.md): invalid reads and writes, and what depends on memory that was never set.
#
#   fuzz/memcheck.sh
#
# Needs valgrind, which knows AVX2. Not Miri: that needs a component of a nightly compiler (`cargo +nightly miri test -p rooco --lib -- kernel simd`).
set -eu
cd "$(dirname "$0")/.."
check() { # crate, test filter
    program=$(cargo test --package "$1" --lib --no-run 2>&1 | sed -n 's/.*Executable .*(\(.*\)).*/\1/p')
    # Not into a pipe, which would hide the exit code.
    said=$(cd "crates/$1" && valgrind --quiet --error-exitcode=9 "$program" --test-threads 1 "$2")
    echo "$said" | grep "test result"
}
check rooco kernel
check rooco simd
check rooco prefetch
check rooco-data scan
cargo build --quiet --package rooco-cli
rooco=${CARGO_TARGET_DIR:-target}/debug/rooco
# closed.rs runs before `main`.
valgrind --quiet --error-exitcode=9 "$rooco" --version
code=0
valgrind --quiet --error-exitcode=9 "$rooco" show nothing >&- || code=$?
[ "$code" -eq 2 ]
echo "no fault found"
