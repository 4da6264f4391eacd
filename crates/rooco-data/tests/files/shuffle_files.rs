//! Every line comes out exactly once, whatever it looks like; the same seed gives the same file; errors leave the old file alone.

use std::io::{Read, Write};
use std::path::Path;

use rooco_data::shuffle::{FileOptions, Records, ShuffleOptions, shuffle_files, shuffle_into};
use rooco_data::stream::Input;

const CSV: FileOptions = FileOptions { records: Records::Csv { delimiter: b',' }, header: true };

fn how(seed: u64, memory: u64) -> ShuffleOptions {
    ShuffleOptions { seed, memory, temporary: None }
}

/// Shuffles into a file of its own directory and makes sure that nothing else is left there.
fn run(inputs: &[Input], name: &str, how: &ShuffleOptions, what: FileOptions) -> rooco::Result<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join(name);
    let result = shuffle_files(inputs, &out, how, what);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), usize::from(result.is_ok()), "{left:?}");
    result.map(|_| std::fs::read(&out).unwrap())
}

fn sorted_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.strip_suffix(b"\n").unwrap_or(text).split(|&b| b == b'\n').collect();
    lines.sort();
    lines
}

#[test]
fn every_line_comes_out_once_whatever_it_looks_like() {
    let mut odd: Vec<u8> = Vec::new();
    for i in 0..400u32 {
        match i % 7 {
            0 => {}
            1 => odd.extend(b"windows\r"),
            2 => odd.extend([0, 0, b'x', 0]),
            3 => odd.extend([0xff, 0xfe, 0x80]),
            _ => odd.extend(format!("line {i}").bytes()),
        }
        odd.push(b'\n');
    }
    // A line of 10 MB, and a last one without its line end.
    odd.extend(vec![b'L'; 10 << 20]);
    odd.extend(b"\nthe last line");
    let mut expected = None;
    for memory in [1 << 30, 1 << 20, 4000, 1, 0] {
        let out = run(&[Input::bytes("odd", odd.clone())], "out", &how(3, memory), FileOptions::default()).unwrap();
        assert_eq!(sorted_lines(&out), sorted_lines(&odd));
        assert!(out.ends_with(b"\n"));
        // The same bytes whatever the memory.
        assert!(expected.get_or_insert_with(|| out.clone()) == &out, "{memory}");
    }
    assert_eq!(run(&[Input::bytes("e", *b"")], "out", &how(1, 100), FileOptions::default()).unwrap(), b"");
    assert_eq!(run(&[Input::bytes("e", *b"\n")], "out", &how(1, 100), FileOptions::default()).unwrap(), b"\n");
    assert_eq!(run(&[Input::bytes("e", *b"x")], "out", &how(1, 100), FileOptions::default()).unwrap(), b"x\n");
}

#[test]
fn overfull_files_are_scattered_again() {
    // Many short lines and little memory: the first guess, sixteen times the memory, is far too small for compressed input.
    let text: String = (0..60_000).map(|i| format!("{i}\n")).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let whole = run(&[Input::bytes("t", text.as_bytes())], "o", &how(5, 1 << 30), FileOptions::default()).unwrap();
    assert_eq!(sorted_lines(&whole), sorted_lines(text.as_bytes()));
    for memory in [1000, 3000, 30_000] {
        let out = run(&[Input::bytes("t", gzip.clone())], "o", &how(5, memory), FileOptions::default()).unwrap();
        assert!(out == whole, "{memory}");
    }
    assert_ne!(run(&[Input::bytes("t", text.as_bytes())], "o", &how(6, 1 << 30), FileOptions::default()).unwrap(), whole);
}

#[test]
fn headers_stay_on_top_and_must_agree() {
    let a = Input::bytes("a.csv", *b"\xef\xbb\xbfx,y\r\n1,2\r\n3,4\r\n");
    let b = Input::bytes("b.csv", *b"x,y\n5,6\n7,8");
    let out = run(&[a.clone(), b.clone()], "out.csv", &how(1, 1 << 20), CSV).unwrap();
    let text = String::from_utf8(out).unwrap();
    let body = text.strip_prefix("\u{feff}x,y\r\n").unwrap();
    assert_eq!(sorted_lines(body.as_bytes()), [&b"1,2\r"[..], b"3,4\r", b"5,6", b"7,8"]);
    let other = Input::bytes("c.csv", *b"x,z\n5,6\n");
    let error = run(&[a, other], "out.csv", &how(1, 1 << 20), CSV).unwrap_err();
    assert!(error.to_string().starts_with("c.csv:1:0: the header differs"), "{error}");
    // A file of a header alone.
    assert_eq!(run(&[Input::bytes("h", *b"x,y")], "o", &how(1, 99), CSV).unwrap(), b"x,y\n");
}

#[test]
fn csv_records_with_line_ends_stay_whole() {
    let rows: Vec<String> = (0..500).map(|i| format!("{i},\"first\nsecond, \"\"third\"\"\n{i}\",z")).collect();
    let text = format!("a,b,c\n{}\n", rows.join("\n"));
    let out = run(&[Input::bytes("t.csv", text.as_bytes())], "o.csv", &how(1, 5000), CSV).unwrap();
    let mut reader = csv::Reader::from_reader(&out[..]);
    let mut numbers: Vec<usize> = reader
        .records()
        .map(|r| {
            let r = r.unwrap();
            assert_eq!(&r[1], format!("first\nsecond, \"third\"\n{}", &r[0]));
            r[0].parse().unwrap()
        })
        .collect();
    assert_ne!(numbers, (0..500).collect::<Vec<_>>());
    numbers.sort();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    let open = Input::bytes("t.csv", *b"a,b\n1,\"x\n2,y\n");
    assert!(run(&[open], "o.csv", &how(1, 5000), CSV).unwrap_err().to_string().starts_with("t.csv:2:0: a quoted field"));
}

#[test]
fn compressed_in_and_out() {
    let text: String = (0..5000).map(|i| format!("line {i}\n")).collect();
    let plain = run(&[Input::bytes("t", text.as_bytes())], "o", &how(9, 1 << 20), FileOptions::default()).unwrap();
    let gz =
        run(&[Input::bytes("t", zstd::encode_all(text.as_bytes(), 1).unwrap())], "o.gz", &how(9, 20_000), FileOptions::default());
    let zst = run(&[Input::bytes("t", gz.as_ref().unwrap().clone())], "o.zst", &how(0, 20_000), FileOptions::default()).unwrap();
    let mut unzipped = Vec::new();
    flate2::read::GzDecoder::new(&gz.unwrap()[..]).read_to_end(&mut unzipped).unwrap();
    assert!(unzipped == plain);
    let twice = zstd::decode_all(&zst[..]).unwrap();
    assert_eq!(sorted_lines(&twice), sorted_lines(text.as_bytes()));
    // Damaged input is an error and not a shorter output.
    let mut cut = zstd::encode_all(text.as_bytes(), 1).unwrap();
    cut.truncate(cut.len() / 2);
    let error = run(&[Input::bytes("t.zst", cut)], "o", &how(9, 1 << 20), FileOptions::default()).unwrap_err();
    assert!(error.to_string().contains("damaged or end early"), "{error}");
}

#[test]
fn errors_leave_the_old_output_alone() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.txt");
    std::fs::write(&out, "old").unwrap();
    let text: Vec<u8> = (0..5000).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
    let input = Input::bytes("t", text.clone());
    let untouched = |what: &str| {
        assert_eq!(std::fs::read(&out).unwrap(), b"old", "{what}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "{what}");
    };
    // A temporary directory that is not there, or is a file.
    for bad in [dir.path().join("nowhere"), out.clone()] {
        let how = ShuffleOptions { temporary: Some(bad.clone()), ..how(1, 10_000) };
        let error = shuffle_files(std::slice::from_ref(&input), &out, &how, FileOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with(&bad.display().to_string()), "{error}");
        untouched("temporary directory");
    }
    // An input that is not there, after one that is.
    let missing = [input.clone(), Input::File(dir.path().join("missing"))];
    assert!(shuffle_files(&missing, &out, &how(1, 10_000), FileOptions::default()).is_err());
    untouched("missing input");
    // An output directory that is not there, or the output is a directory.
    assert!(
        shuffle_files(std::slice::from_ref(&input), &dir.path().join("no/out"), &how(1, 1 << 20), FileOptions::default())
            .is_err()
    );
    assert!(shuffle_files(std::slice::from_ref(&input), dir.path(), &how(1, 1 << 20), FileOptions::default()).is_err());
    untouched("no directory");
    // And without an error the old file is replaced, also if it is the input itself.
    std::fs::write(&out, &text).unwrap();
    shuffle_files(&[Input::File(out.clone())], &out, &how(1, 10_000), FileOptions::default()).unwrap();
    let new = std::fs::read(&out).unwrap();
    assert_ne!(new, text);
    assert_eq!(sorted_lines(&new), sorted_lines(&text));
}

#[test]
fn a_full_disk_is_an_error_that_says_what_to_do() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let text: String = (0..200_000).map(|i| format!("line {i}\n")).collect();
    for name in ["out", "out.gz", "out.zst"] {
        let input = [Input::bytes("t", text.as_bytes())];
        let error =
            shuffle_into(&input, &mut Full(300_000), Path::new(name), &how(1, 1 << 20), FileOptions::default()).unwrap_err();
        assert!(error.to_string().contains("make room"), "{error}");
    }
    #[cfg(target_os = "linux")]
    {
        let error = shuffle_files(
            &[Input::bytes("t", text.as_bytes())],
            Path::new("/dev/full"),
            &how(1, 1 << 20),
            FileOptions::default(),
        );
        assert!(error.unwrap_err().to_string().contains("make room"));
    }
}
