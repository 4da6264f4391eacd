//! Files that others write to while they are read.

use std::io::Write;
use std::path::Path;

use rooco::Result;
use rooco_data::stream::{Input, ReadOptions, Stream, open};

/// More than all buffers together, so that most of it is unread after the first rows.
const ROWS: usize = 400_000;

fn file(d: &Path, compressed: bool) -> std::path::PathBuf {
    let text: String = (0..ROWS).map(|i| format!("{} 1:{} 2:0.25 3:1000.5\n", i % 2, i)).collect();
    let path = d.join(if compressed { "r.svm.gz" } else { "r.svm" });
    let mut bytes = text.into_bytes();
    if compressed {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        out.write_all(&bytes).unwrap();
        bytes = out.finish().unwrap();
    }
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The rows, or what ended them; after ten rows something happens to the file.
fn read(path: &Path, ahead: bool, happens: impl FnOnce()) -> Result<usize> {
    let mut stream: Box<dyn Stream> = open(&[Input::File(path.into())], &ReadOptions { ahead, ..ReadOptions::default() })?;
    for _ in 0..10 {
        assert!(stream.next()?.is_some());
    }
    happens();
    let mut rows = 10;
    while stream.next()?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

/// Cut: an error with the name of the file, never fewer rows in silence. Replaced under its name: the old rows, all of them. Appended to: the rows that were
/// there when it was opened.
#[test]
fn a_file_is_read_as_it_was_opened_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    for (ahead, compressed) in [(false, false), (true, false), (true, true)] {
        let path = file(dir.path(), compressed);
        let cut = read(&path, ahead, || {
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(file.metadata().unwrap().len() - 100_000).unwrap();
        });
        let message = cut.unwrap_err().to_string();
        assert!(message.contains("r.svm") && message.contains("was cut while it was read"), "{message}");
        let path = file(dir.path(), compressed);
        let replaced = read(&path, ahead, || {
            std::fs::write(dir.path().join("other"), "1 1:1\n").unwrap();
            std::fs::rename(dir.path().join("other"), &path).unwrap();
        });
        assert_eq!(replaced.unwrap(), ROWS);
        let path = file(dir.path(), compressed);
        let appended = read(&path, ahead, || {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(b"1 1:2 2:0.2").unwrap();
        });
        assert_eq!(appended.unwrap(), ROWS);
    }
}
