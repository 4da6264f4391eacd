//! Parquet in, Parquet out: every row once, nulls and lists included, whatever the memory; errors leave the old file alone.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use rooco_data::shuffle::{FileOptions, Records, ShuffleOptions, shuffle_files};
use rooco_data::stream::Input;

const PARQUET: FileOptions = FileOptions { records: Records::Parquet, header: false };
const SCHEMA: &str = "message m { required int64 when (TIMESTAMP(MILLIS,true)); optional binary name (UTF8); required boolean flag; \
     optional group tags (LIST) { repeated group list { optional int32 element; } } required fixed_len_byte_array(3) code; \
     optional double size; }";

/// Rows `from..to` in groups of 700: a name every third row is null, lists of 0 to 3 numbers with nulls among them.
fn file(from: i64, to: i64) -> Vec<u8> {
    let schema = Arc::new(parquet::schema::parser::parse_message_type(SCHEMA).unwrap());
    let note = KeyValue::new("origin".into(), "a test".to_owned());
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.set_key_value_metadata(Some(vec![note])).build()))
            .unwrap();
    let mut start = from;
    while start < to {
        let rows: Vec<i64> = (start..to.min(start + 700)).collect();
        start += 700;
        let mut group = writer.next_row_group().unwrap();
        macro_rules! column {
            ($t:ty, $values:expr, $defs:expr, $reps:expr) => {{
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$t>().write_batch(&$values, $defs, $reps).unwrap();
                column.close().unwrap();
            }};
        }
        column!(Int64Type, rows, None, None);
        let names: Vec<ByteArray> = rows.iter().filter(|i| *i % 3 != 0).map(|i| ByteArray::from(&*format!("row {i}"))).collect();
        let defs: Vec<i16> = rows.iter().map(|i| i16::from(i % 3 != 0)).collect();
        column!(ByteArrayType, names, Some(&defs), None);
        column!(BoolType, rows.iter().map(|i| i % 2 == 0).collect::<Vec<_>>(), None, None);
        let (mut values, mut defs, mut reps) = (Vec::new(), Vec::new(), Vec::new());
        for &i in &rows {
            match i % 5 {
                // No list, an empty list, lists.
                0 => (defs.push(0), reps.push(0)),
                1 => (defs.push(1), reps.push(0)),
                n => {
                    for k in 0..n - 1 {
                        reps.push(i16::from(k > 0));
                        let there = (i + k) % 4 != 0;
                        defs.push(if there { 3 } else { 2 });
                        if there {
                            values.push((10 * i + k) as i32);
                        }
                    }
                    ((), ())
                }
            };
        }
        column!(Int32Type, values, Some(&defs), Some(&reps));
        let codes: Vec<FixedLenByteArray> =
            rows.iter().map(|i| FixedLenByteArray::from(format!("{:03}", i % 1000).into_bytes())).collect();
        column!(FixedLenByteArrayType, codes, None, None);
        let sizes: Vec<f64> = rows.iter().filter(|i| *i % 7 != 0).map(|&i| i as f64 / 3.0).collect();
        column!(DoubleType, sizes, Some(&rows.iter().map(|i| i16::from(i % 7 != 0)).collect::<Vec<_>>()), None);
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// All rows as text, in their order.
fn rows(bytes: &[u8]) -> Vec<String> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

fn run(inputs: &[Input], out: &Path, seed: u64, memory: u64) -> rooco::Result<Vec<u8>> {
    shuffle_files(inputs, out, &ShuffleOptions { seed, memory, temporary: None }, PARQUET)?;
    let names: Vec<_> = std::fs::read_dir(out.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    Ok(std::fs::read(out).unwrap())
}

#[test]
fn every_row_comes_out_once_with_its_nulls_and_lists() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.parquet");
    let (a, b) = (file(0, 2000), file(2000, 3000));
    let inputs = [Input::bytes("a.parquet", a.clone()), Input::bytes("b.parquet", b.clone())];
    let old = [rows(&a), rows(&b)].concat();
    assert_eq!(old.len(), 3000);
    let whole = run(&inputs, &out, 5, 1 << 30).unwrap();
    let new = rows(&whole);
    assert_ne!(new, old);
    assert_eq!(sorted(new.clone()), sorted(old));
    // The same rows in the same order whatever the memory; only the row groups differ.
    for memory in [1 << 20, 20_000, 0] {
        assert_eq!(rows(&run(&inputs, &out, 5, memory).unwrap()), new, "{memory}");
    }
    assert_ne!(rows(&run(&inputs, &out, 6, 1 << 30).unwrap()), new);
    // Schema, metadata and compression stay.
    let (before, after) = (Bytes::from(a), Bytes::from(whole));
    let (before, after) = (SerializedFileReader::new(before).unwrap(), SerializedFileReader::new(after).unwrap());
    let (x, y) = (before.metadata().file_metadata(), after.metadata().file_metadata());
    assert_eq!(x.schema_descr().root_schema(), y.schema_descr().root_schema());
    assert_eq!(x.key_value_metadata(), y.key_value_metadata());
    assert!(matches!(after.metadata().row_group(0).column(0).compression(), Compression::ZSTD(_)));
}

#[test]
fn an_empty_file_stays_one_and_errors_leave_the_old_output_alone() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.parquet");
    let empty = run(&[Input::bytes("e.parquet", file(0, 0))], &out, 1, 1 << 20).unwrap();
    assert!(rows(&empty).is_empty());
    std::fs::write(&out, b"precious").unwrap();
    let other = {
        let schema = Arc::new(parquet::schema::parser::parse_message_type("message m { required int32 x; }").unwrap());
        SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap().into_inner().unwrap()
    };
    let good = file(0, 100);
    let mut cut = good.clone();
    cut.truncate(good.len() / 2);
    let mut damaged = good.clone();
    damaged[60..good.len() / 2].fill(0xff);
    for (bad, expected) in
        [(other, "columns differ"), (cut, "cannot be read"), (damaged, "cannot be read"), (b"PAR1".to_vec(), "cannot be read")]
    {
        let inputs = [Input::bytes("a.parquet", good.clone()), Input::bytes("b.parquet", bad)];
        let error = run(&inputs, &out, 1, 1 << 20).unwrap_err().to_string();
        assert!(error.starts_with("b.parquet") && error.contains(expected), "{error}");
        assert_eq!(std::fs::read(&out).unwrap(), b"precious");
    }
    #[cfg(target_os = "linux")]
    {
        let how = ShuffleOptions { seed: 1, memory: 1 << 20, temporary: None };
        let big = [Input::bytes("a.parquet", file(0, 5000))];
        let error = shuffle_files(&big, Path::new("/dev/full"), &how, PARQUET).unwrap_err().to_string();
        assert!(error.contains("make room"), "{error}");
    }
}
