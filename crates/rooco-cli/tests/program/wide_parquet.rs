//! A Parquet file whose columns do not fit in memory side by side: the memory of a fit stays small, and a temporary file that cannot be
//! written is an error with a way out.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::sync::Arc;

use parquet::data_type::DoubleType;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use tempfile::tempdir;

use super::common::{peak_memory, rooco};

const ROWS: usize = 8192;
const COLUMNS: usize = 1200;

/// 79 MB in one row group, one page a column.
fn write(path: &Path) {
    let fields: String = (1..COLUMNS).map(|k| format!("required double x{k};")).collect();
    let schema = parquet::schema::parser::parse_message_type(&format!("message m {{ required double y; {fields} }}")).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(ROWS)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for k in 0..COLUMNS {
        let values: Vec<f64> = (0..ROWS).map(|t| ((t * (k + 1)) as f64).sin() / 30.0).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn many_columns_take_little_memory_and_a_temporary_file() {
    let dir = tempdir().unwrap();
    write(&dir.path().join("wide.parquet"));
    let fit = ["fit", "wide.parquet", "--target", "y", "--model", "m", "--algorithm", "sgd"];
    let mut command = rooco();
    let peak = peak_memory(command.args(fit).current_dir(dir.path()).stdout(std::process::Stdio::null()));
    assert!(peak > 0 && peak < 64_000_000, "{peak} bytes");
    let model = std::fs::read(dir.path().join("m")).unwrap();
    std::fs::remove_file(dir.path().join("m")).unwrap();

    // A pipe cannot be searched: it goes through a temporary file as a whole.
    let input = std::fs::File::open(dir.path().join("wide.parquet")).unwrap();
    let mut command = rooco();
    command.args(fit.map(|a| if a == "wide.parquet" { "-" } else { a })).current_dir(dir.path()).stdin(input);
    let peak = peak_memory(command.stdout(std::process::Stdio::null()));
    assert!(peak > 0 && peak < 64_000_000, "{peak} bytes");
    assert!(std::fs::read(dir.path().join("m")).unwrap() == model);
    std::fs::remove_file(dir.path().join("m")).unwrap();

    // No directory for the temporary file; then no room in it.
    let failed = |out: std::process::Output| {
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{message}");
        assert!(message.contains("TMPDIR") && message.contains("smaller row groups"), "{message}");
        assert!(!dir.path().join("m").exists());
        message
    };
    let out = rooco().args(fit).current_dir(dir.path()).env("TMPDIR", dir.path().join("none")).output().unwrap();
    assert!(failed(out).contains("none: "));
    let script = format!("trap '' XFSZ; ulimit -f 1024; exec '{}' {}", env!("CARGO_BIN_EXE_rooco"), fit.join(" "));
    let out = std::process::Command::new("sh").args(["-c", &script]).current_dir(dir.path()).env("TMPDIR", dir.path()).output();
    failed(out.unwrap());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left behind");
}
