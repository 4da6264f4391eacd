//! What reads bytes from outside: one function each.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use rooco::Rule;
use rooco::state::State;
use rooco_data::stream::{self, Format, Input, Missing, ReadOptions, SchemaFile};
use rooco_lab::experiment::Experiment;
use rooco_pass::fit::CheckpointAbout;
use rooco_pass::model::file;

/// Takes any bytes, and must not panic.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("csv", |b| rows(b, Format::Csv)),
    ("tsv", |b| rows(b, Format::Tsv)),
    ("libsvm", |b| rows(b, Format::Libsvm)),
    ("vw", |b| rows(b, Format::Vw)),
    ("jsonl", |b| rows(b, Format::JsonLines)),
    ("any", any),
    ("gzip", gzip),
    ("zstd", zstd),
    ("parquet", |b| rows(b, Format::Parquet)),
    ("arrow", |b| rows(b, Format::Arrow)),
    ("model", model),
    ("checkpoint", checkpoint),
    ("state", state),
    ("lab", lab),
    ("schema", schema),
    ("trace", trace),
];

/// A target by its name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|t| t.0 == name).map(|t| t.1)
}

/// The name of the target that reads rows of a format.
pub fn of(format: Format) -> &'static str {
    match format {
        Format::Csv => "csv",
        Format::Tsv => "tsv",
        Format::Libsvm => "libsvm",
        Format::Vw => "vw",
        Format::JsonLines => "jsonl",
        Format::Parquet => "parquet",
        Format::Arrow => "arrow",
    }
}

fn options(format: Option<Format>) -> ReadOptions {
    // They ask the system for its processors, which takes longer than a small file.
    static DEFAULT: LazyLock<ReadOptions> = LazyLock::new(ReadOptions::default);
    let named = !matches!(format, Some(Format::Libsvm | Format::Vw));
    ReadOptions {
        format,
        target: named.then(|| "y".into()),
        missing: Missing::Typical,
        max_features: 1 << 16,
        ahead: false,
        ..DEFAULT.clone()
    }
}

fn read(bytes: &[u8], name: &str, options: &ReadOptions) {
    let Ok(mut stream) = stream::open(&[Input::bytes(name, bytes.to_vec())], options) else { return };
    while let Ok(Some(z)) = stream.next() {
        // What a stream lends is a row: finite, in order.
        assert!(z.x.values().iter().all(|v| v.is_finite()), "a value is not finite");
        assert!(z.y.is_finite() && z.weight.is_finite(), "a target or weight is not finite");
    }
}

fn rows(bytes: &[u8], format: Format) {
    read(bytes, "input", &options(Some(format)));
}

/// The format from the content.
fn any(bytes: &[u8]) {
    read(bytes, "input", &options(None));
}

/// Damaged compression, and sound compression of damaged text.
fn gzip(bytes: &[u8]) {
    let damaged = [&[0x1f, 0x8b], bytes].concat();
    read(&damaged, "input.gz", &options(Some(Format::Csv)));
    if let Some(whole) = gzipped(bytes) {
        read(&whole, "input.gz", &options(Some(Format::Csv)));
    }
}

/// Sound gzip: one input in sixteen is compressed, the others are stored as they are, because an encoder sets up more memory than all the rest takes.
fn gzipped(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len().is_multiple_of(16) {
        let mut whole = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        whole.write_all(bytes).ok()?;
        return whole.finish().ok();
    }
    let mut whole = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let n = block.len() as u16;
        whole.push(u8::from(blocks.peek().is_none()));
        whole.extend([n, !n].into_iter().flat_map(u16::to_le_bytes));
        whole.extend_from_slice(block);
    }
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    whole.extend([crc.sum(), bytes.len() as u32].into_iter().flat_map(u32::to_le_bytes));
    Some(whole)
}

fn zstd(bytes: &[u8]) {
    let damaged = [&[0x28, 0xb5, 0x2f, 0xfd], bytes].concat();
    read(&damaged, "input.zst", &options(Some(Format::Csv)));
    thread_local! {
        // To set one up takes longer than to use it.
        static ENCODER: RefCell<Option<zstd::bulk::Compressor<'static>>> = RefCell::new(zstd::bulk::Compressor::new(1).ok());
    }
    let whole = ENCODER.with_borrow_mut(|encoder| encoder.as_mut().and_then(|e| e.compress(bytes).ok()));
    if let Some(whole) = whole {
        read(&whole, "input.zst", &options(Some(Format::Csv)));
    }
}

fn model(bytes: &[u8]) {
    let Ok(model) = file::model_from_bytes(Path::new("m"), bytes) else { return };
    let mut scores = vec![0.0; model.rule.outputs];
    model.rule.scores(rooco::Features::Dense(&[1.0, -2.0, 3.0]), &mut scores);
}

fn checkpoint(bytes: &[u8]) {
    let _ = file::checkpoint_from_bytes::<CheckpointAbout>(Path::new("c"), bytes);
}

/// A state whose checksum fits, whatever it holds, and the rules and rows that may be in it.
fn state(bytes: &[u8]) {
    let _ = State::from_bytes(bytes);
    let Some(body) = bytes.len().checked_sub(8).map(|n| &bytes[..n]) else { return };
    let sum = body.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, b| (hash ^ *b as u64).wrapping_mul(0x100_0000_01b3));
    let Ok(state) = State::from_bytes(&[body, &sum.to_le_bytes()].concat()) else { return };
    if let Ok(rule) = Rule::load(&state) {
        let mut scores = vec![0.0; rule.outputs];
        rule.scores(rooco::Features::Dense(&[1.0, -2.0, 3.0]), &mut scores);
    }
    if let Ok(rows) = rooco::Rows::load(&state) {
        assert!((0..rows.len()).all(|k| rows.get(k).x.values().len() < bytes.len()));
    }
}

fn lab(bytes: &[u8]) {
    let _ = std::str::from_utf8(bytes).map(|text| Experiment::parse(text, Path::new("x.toml")).map(drop));
}

fn schema(bytes: &[u8]) {
    let _ = std::str::from_utf8(bytes).map(|text| SchemaFile::parse(Path::new("s.toml"), text).map(drop));
}

/// A problem is read and played.
fn trace(bytes: &[u8]) {
    let _ = std::str::from_utf8(bytes).map(|text| rooco_lab::trace::trace(text, Path::new("p.json")).map(drop));
}

/// What makes sound files must, or their targets would only ever see damaged ones.
#[cfg(test)]
mod tests {
    use std::io::Read;

    #[test]
    fn gzip_is_sound() {
        for n in [1, 15, 16, 17, 0xffff, 0x10001, 200_003] {
            let bytes: Vec<u8> = (0..n).map(|k| (k % 251) as u8).collect();
            let mut back = Vec::new();
            flate2::read::GzDecoder::new(&super::gzipped(&bytes).unwrap()[..]).read_to_end(&mut back).unwrap();
            assert!(back == bytes, "{n}");
        }
    }
}
