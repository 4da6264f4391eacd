#!/bin/sh
# The crates as they would be published: packages them, unpacks them, builds the program from the unpacked crates alone and runs its demo.
# Needs no network. The versions and profiles are those of the repository, so what its tests have built is used again.
#
#   .ci/package.sh TARGET-DIRECTORY
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
mkdir -p "$1"
target=$(cd "$1" && pwd)
crates="rooco rooco-data rooco-pass rooco-lab rooco-cli"

$cargo package --quiet --workspace --exclude rooco-python --exclude rooco-bench --offline --allow-dirty --no-verify --target-dir "$target" \
    2>&1 | grep -v '^warning: ignoring test' || true

# A workspace of nothing but the packages. (Cargo does not look for a workspace above `target/package`.)
unpacked=$target/package/unpacked
rm -rf "$unpacked"
mkdir -p "$unpacked"
{
    echo "[workspace]"
    echo 'resolver = "3"'
    echo "members = [$(for c in $crates; do printf '"%s", ' "$c"; done)]"
    echo "[patch.crates-io]"
    for c in $crates; do echo "$c = { path = \"$c\" }"; done
    sed -n '/^\[profile\.dev/,$p' Cargo.toml
} >"$unpacked/Cargo.toml"
cp Cargo.lock "$unpacked/"
for c in $crates; do
    package=$(ls "$target/package/$c"-[0-9]*.crate)
    mkdir "$unpacked/$c"
    tar xzf "$package" -C "$unpacked/$c" --strip-components=1
    for file in LICENSE-MIT LICENSE-APACHE; do
        cmp "$file" "$unpacked/$c/$file" || { echo "crates/$c/$file is not the one of the repository" >&2; exit 1; }
    done
    for field in readme keywords categories repository license description; do
        grep -q "^$field = " "$unpacked/$c/Cargo.toml" || { echo "$c: no $field" >&2; exit 1; }
    done
    [ "$(wc -c <"$package")" -lt 10000000 ] || { echo "$package is too large to be published" >&2; exit 1; }
done
rm -f "$target"/package/*.crate

$cargo build --quiet --offline --package rooco-cli --manifest-path "$unpacked/Cargo.toml" --target-dir "$target"
cd "$unpacked/rooco-cli"
"$target/debug/rooco" demo >demo.txt || { echo "the packaged program: its demo fails" >&2; exit 1; }
grep -q "corrected by twins of negative weight (rooco)" demo.txt
echo "the packages of $(echo $crates | wc -w) crates build, and the demo of the packaged program runs"
