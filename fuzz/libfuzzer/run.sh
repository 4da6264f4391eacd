#!/bin/sh
# Every target, or those that are named, under libFuzzer and AddressSanitizer for so many seconds each; a line a target at the end of each.
#
#   fuzz/libfuzzer/run.sh SECONDS [TARGET...]
#
# Needs a C++ compiler, and a nightly compiler of Rust or the permission to take a stable one for it (RUSTC_BOOTSTRAP=1, which is set where there is no nightly).
# New inputs that reach new code are kept in target/libfuzzer/corpus/TARGET, what fails in target/libfuzzer/found/. Exit code 1 if something failed.
set -eu
cd "$(dirname "$0")"
seconds=$1
shift
work=${CARGO_TARGET_DIR:-$PWD/../../target}/libfuzzer
mkdir -p "$work/found"
if rustup toolchain list 2>/dev/null | grep -q nightly; then
    toolchain=+nightly
else
    toolchain=
    export RUSTC_BOOTSTRAP=1
fi
CARGO_TARGET_DIR=$work cargo $toolchain build --quiet --release --locked
program=$work/x86_64-unknown-linux-gnu/release/rooco-libfuzzer
[ $# -gt 0 ] || set -- $(ls ../corpus)
failed=0
for target; do
    own=$work/corpus/$target
    mkdir -p "$own"
    # A target that asks for more than 1 GB, or takes more than ten seconds, has failed, too.
    ROOCO_TARGET=$target "$program" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -max_len=65536 -print_final_stats=1 -print_funcs=0 \
        -artifact_prefix="$work/found/$target-" "$own" "../corpus/$target" >"$work/$target.log" 2>&1 || failed=1
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    covered=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$work/$target.log" | tail -1)
    memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$work/$target.log")
    found=$(grep -c '^SUMMARY' "$work/$target.log" || true)
    echo "$target: ${count:-?} executions, $covered, $(ls "$own" | wc -l) inputs kept, $memory MB, $found failures"
done
exit $failed
