//! The corpus, and a few thousand mutations of it, as plain tests. `cargo run --release -p rooco-fuzz -- all 1000000` is the long way.
#![allow(missing_docs)]

/// Every file of the corpus, what was once found among them, leaves its target unharmed.
#[test]
fn the_corpus_passes() {
    for (name, target) in rooco_fuzz::TARGETS {
        let files = rooco_fuzz::files(name);
        assert!(!files.is_empty(), "{name} has no corpus: cargo run -p rooco-fuzz -- seeds");
        for (path, bytes) in files {
            assert!(std::panic::catch_unwind(|| target(&bytes)).is_ok(), "{}", path.display());
        }
    }
}

/// Everything that rooco reads has a target: rows in every format (`of` does not compile if one is forgotten), compressed, and every other file.
#[test]
fn every_format_has_a_target() {
    use rooco_data::stream::Format::*;
    let rows = [Csv, Tsv, Libsvm, Vw, JsonLines, Parquet, Arrow].map(rooco_fuzz::of);
    let others = ["any", "gzip", "zstd", "model", "checkpoint", "state", "lab", "schema", "trace"];
    let mut named: Vec<&str> = rows.into_iter().chain(others).collect();
    let mut there: Vec<&str> = rooco_fuzz::TARGETS.iter().map(|t| t.0).collect();
    named.sort();
    there.sort();
    assert_eq!(named, there);
}

/// Mutations by a fixed seed.
#[test]
fn a_few_mutations_pass() {
    for (name, _) in rooco_fuzz::TARGETS {
        let many = if matches!(*name, "parquet" | "arrow" | "any") { 600 } else { 3000 };
        let (done, found) = rooco_fuzz::run(name, 20, |n| n < many);
        assert_eq!((done, found.len()), (many, 0), "{name}: {found:?}");
    }
}

/// Every cut and every changed byte of the columnar seeds: an error or rows, never a panic.
#[test]
fn every_byte_of_columnar_files_may_be_damaged() {
    let mut tried = 0;
    for name in ["arrow", "parquet"] {
        let target = rooco_fuzz::target(name).unwrap();
        for (path, bytes) in rooco_fuzz::files(name).into_iter().filter(|(p, _)| p.to_string_lossy().contains("seed-")) {
            for at in 0..bytes.len() {
                for flip in [0xffu8, 1 << (at % 8)] {
                    let mut bad = bytes.clone();
                    bad[at] ^= flip;
                    assert!(std::panic::catch_unwind(|| target(&bad)).is_ok(), "{} byte {at} ^ {flip}", path.display());
                    tried += 1;
                }
                if at % 7 == 0 {
                    assert!(std::panic::catch_unwind(|| target(&bytes[..at])).is_ok(), "{} cut at {at}", path.display());
                }
            }
        }
    }
    assert!(tried > 5000, "{tried}");
    println!("{tried} damaged columnar files");
}
