//! Every malformed input gives one error with file, line, column and the way out, and never a panic.

use std::io::Write as _;

use rooco::Error;
use rooco_data::stream::{BadRows, Input, Labels, Missing, ReadOptions, Schema, TargetKind, open};

/// Reads everything; the first error, with the number of good rows before it.
fn first_error(name: &str, bytes: &[u8], options: &ReadOptions) -> (u64, Error) {
    let mut stream = match open(&[Input::bytes(name, bytes)], options) {
        Ok(stream) => stream,
        Err(error) => return (0, error),
    };
    let mut rows = 0;
    loop {
        match stream.next() {
            Ok(Some(_)) => rows += 1,
            Ok(None) => panic!("{name}: {:?} was accepted, {rows} rows", String::from_utf8_lossy(bytes)),
            Err(error) => {
                assert!(matches!(stream.next(), Ok(None)), "the stream ends with its error");
                return (rows, error);
            }
        }
    }
}

/// The error must be the same on this thread and ahead, at the place expected, and say the words expected.
fn check(name: &str, bytes: &[u8], options: &ReadOptions, line: u64, column: u64, words: &str) {
    let (rows, error) = first_error(name, bytes, &ReadOptions { ahead: false, ..options.clone() });
    let (rows_ahead, error_ahead) = first_error(name, bytes, &ReadOptions { ahead: true, ..options.clone() });
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
    assert_eq!((rows, error.to_string()), (rows_ahead, error_ahead.to_string()), "{name} {shown:?}");
    let message = error.to_string();
    assert!(message.contains(words), "{name} {shown:?}: {message}");
    assert!(!message.contains('\n'), "one line: {message}");
    match error {
        Error::Parse { file, line: l, column: c, .. } => {
            assert_eq!((file.to_str(), l, c), (Some(name), line, column), "{shown:?}: {message}");
        }
        // It is about the whole file.
        Error::Target { file, .. } => assert_eq!((file.to_str(), line, column), (Some(name), 1, 1), "{shown:?}: {message}"),
        other => panic!("{name} {shown:?}: {other}"),
    }
}

fn y() -> ReadOptions {
    ReadOptions { target: Some("y".into()), ..ReadOptions::default() }
}

#[test]
fn libsvm() {
    let plain = ReadOptions::default();
    let numbers = ReadOptions { target_kind: TargetKind::Number, ..plain.clone() };
    let weighted = ReadOptions { weight: Some("3".into()), ..numbers.clone() };
    let small = ReadOptions { max_features: 100, ..numbers.clone() };
    let base0 = ReadOptions { index_base: Some(0), ..numbers.clone() };
    let cases: &[(&ReadOptions, &str, u64, u64, &str)] = &[
        (&plain, "1 1:0.5\n-1 1:x\n", 2, 6, "the value `x` is not a finite number"),
        (&plain, "1 1:nan\n", 1, 5, "leave the feature out"),
        (&plain, "1 1:NaN\n", 1, 5, "not a finite number"),
        (&plain, "1 1:inf\n", 1, 5, "not a finite number"),
        (&plain, "1 1:-Infinity\n", 1, 5, "not a finite number"),
        (&plain, "1 1:1e999\n", 1, 5, "not a finite number"),
        (&plain, "1 1:1.5.2\n", 1, 5, "not a finite number"),
        (&plain, "1 1:1,5\n", 1, 5, "not a finite number"),
        (&plain, "1 1:--1\n", 1, 5, "not a finite number"),
        (&plain, "1 1:0x10\n", 1, 5, "not a finite number"),
        (&plain, "1 1: 5\n", 1, 5, "no value behind the colon"),
        (&plain, "1 1:\n", 1, 5, "no value behind the colon"),
        (&plain, "1 :5\n", 1, 3, "no index before the colon"),
        (&plain, "1 a:5\n", 1, 3, "the index `a` is not a whole number"),
        (&plain, "1 -1:5\n", 1, 3, "not a whole number"),
        (&plain, "1 1.5:5\n", 1, 3, "not a whole number"),
        (&plain, "1 5\n", 1, 3, "not of the form index:value"),
        (&plain, "1 1:2 2\n", 1, 7, "not of the form index:value"),
        (&plain, "1 2:1 1:1\n", 1, 7, "sort the indices"),
        (&plain, "1 2:1 2:1\n", 1, 7, "appears twice"),
        (&plain, "1 4294967296:1\n", 1, 3, "exceeds the limit"),
        (&plain, "1 123456789:1\n", 1, 3, "exceeds the limit"),
        (&plain, "1 99999999999999999999:1\n", 1, 3, "far too large"),
        (&small, "1 99:1\n1 100:1\n", 2, 3, "limit of 100 features"),
        (&base0, "1 0:1 5:1\n1 5:1 4:1\n", 2, 7, "comes after 5"),
        (&plain, "spam 1:1\n", 1, 1, "write the label as a number"),
        (&plain, "nan 1:1\n", 1, 1, "not a finite number"),
        (&plain, "1:2 2:3\n", 1, 1, "the label must come first"),
        (&plain, "1,2 1:3\n", 1, 1, "is not one number"),
        (&plain, "  1 1:2\n\t1 1:z\n", 2, 6, "`z`"),
        (&plain, "1 1:2\r\n-1 1:z\r\n", 2, 6, "`z`"),
        (&plain, "\u{feff}1 1:2\n-1 1:z", 2, 6, "`z`"),
        (&plain, "# only\n\n# comments\n", 1, 0, "no row in the file"),
        (&plain, "\n\n", 1, 0, "no row in the file"),
        (&plain, "", 1, 0, "the file is empty"),
        (&weighted, "1 1:1 3:2\n1 1:1\n", 2, 1, "no feature 3, which is to be its weight"),
        (&plain, "1 1:1\0\n", 1, 5, "not a finite number"),
        (&plain, "1 \u{1}\u{2}\n", 1, 3, "not of the form index:value"),
    ];
    for (options, text, line, column, words) in cases {
        check("x.svm", text.as_bytes(), options, *line, *column, words);
    }
    // The base is fixed by the first rows: a later index 0 is an error.
    let late = format!("{}1 0:3\n", "1 1:2\n".repeat(1000));
    check("x.svm", late.as_bytes(), &numbers, 1001, 3, "index base 0");
    // Classes too.
    let late = format!("{}2 1:3\n", "0 1:2\n1 1:2\n".repeat(500));
    check("x.svm", late.as_bytes(), &plain, 1001, 1, "the target `2` is none of the classes `0`, `1`");
    let two = ReadOptions { target_kind: TargetKind::TwoClasses, ..plain.clone() };
    check("x.svm", b"7 1:2\n7 1:3\n", &two, 1, 1, "two classes are needed");
    check("x.svm", b"1 1:2\n2 1:3\n3 1:1\n", &two, 1, 1, "two classes are needed");
    // A very long line is read, and its errors are found far out.
    let mut long = String::from("1");
    (1..200_000).for_each(|i| long.push_str(&format!(" {i}:0.5")));
    let column = long.len() as u64 + 9;
    long.push_str(" 200000:z\n");
    check("x.svm", long.as_bytes(), &plain, 1, column, "`z`");
}

#[test]
fn csv() {
    let plain = y();
    let cases: &[(&str, u64, u64, &str)] = &[
        ("a,b,y\n1,2,3\n1,2\n", 3, 0, "2 fields where 3 are expected"),
        ("a,b,y\n1,2,3\n1,2,3,4\n", 3, 0, "4 fields where 3 are expected"),
        ("a,b,y\n1,2,3\n1,2,3,\n", 3, 0, "4 fields where 3 are expected"),
        ("a,b,y\n1,2,3\n\"1\",2\n", 3, 0, "2 fields where 3 are expected"),
        ("a,b,y\n1,2,3\n1,,3\n", 3, 3, "column `b` has no value here"),
        ("a,b,y\n1,2,3\n1,NA,3\n", 3, 3, "missing = typical, zero, mean or debias"),
        ("a,b,y\n1,2,3\n1,NaN,3\n", 3, 3, "column `b` has no value here"),
        ("a,b,y\n1,2,3\n1,null,3\n", 3, 3, "column `b` has no value here"),
        ("a,b,y\n1,2,3\n1,2,\n", 3, 5, "the target is missing"),
        ("a,c,y\n1,red,3\n1,,4\n", 3, 3, "column `c` has no value here"),
        ("a,b,y\n1,2,3\n1,\"2,3\n4,5,6\n", 3, 3, "never closed"),
        ("a,b,y\n1,\"2\"x,3\n1,2,3\n", 2, 6, "text follows the closing quote"),
        ("a,b,z\n1,2,3\n", 1, 0, "there is no column `y`"),
        ("a,b,yy\n1,2,3\n", 1, 0, "did you mean `yy`?"),
        ("a,a,y\n1,2,3\n", 1, 0, "two columns are called `a`"),
        ("y\n1\n", 1, 0, "no column left to learn from"),
        ("a,y\n", 1, 0, "a header, but no rows"),
        ("\n\n", 1, 0, "no row in the file"),
        ("", 1, 0, "the file is empty"),
        ("a,y\n1,p\n2,p\n", 1, 1, "must be a number or have 2 to 1000 classes"),
        ("\u{feff}a,b,y\r\n1,2,3\r\n1,,3\r\n", 3, 3, "column `b` has no value here"),
    ];
    for (text, line, column, words) in cases {
        check("x.csv", text.as_bytes(), &plain, *line, *column, words);
    }
    let head = format!("a,b,y\n{}", "1,2,3\n".repeat(1000));
    for (row, column, words) in [
        ("1,x,3", 3, "say that the column is categorical"),
        ("1,inf,3", 3, "`inf` in column `b` is not a finite number"),
        ("1,1e400,3", 3, "not a finite number"),
        ("1,2 3,3", 3, "not a finite number"),
        ("1,2,many", 5, "the target `many` is not a number"),
        ("1,\"x\",3", 3, "say that the column is categorical"),
    ] {
        check("x.csv", format!("{head}{row}\n").as_bytes(), &plain, 1002, column, words);
    }
    // A position behind a quoted line end.
    let quoted = format!("c,b,y\n{}\"a\nb\",x,3\n", "r,2,3\n".repeat(1000));
    check("x.csv", quoted.as_bytes(), &plain, 1003, 4, "`x`");
    let weighted = ReadOptions { weight: Some("w".into()), ..y() };
    check("x.csv", b"a,w,y\n1,2,3\n1,heavy,3\n", &weighted, 3, 3, "the weight `heavy` is not a finite number");
    check("x.csv", b"a,w,y\n1,2,3\n1,,3\n", &weighted, 3, 3, "the weight is missing");
    check("x.csv", b"a,b,y\n1,2,3\n", &ReadOptions { drop: vec!["q".into()], ..y() }, 1, 0, "no column `q`; the columns are");
    check("x.csv", b"a,b,y\n1,2,3\n", &ReadOptions::default(), 1, 0, "which column is the target?");
    let both = ReadOptions { drop: vec!["y".into()], ..y() };
    check("x.csv", b"a,b,y\n1,2,3\n", &both, 1, 0, "cannot have another role");
    let many = ReadOptions { max_features: 3, ..y() };
    check("x.csv", b"c,y\na,1\nb,2\nd,3\n", &many, 4, 1, "more than 3 features");
    check("x.csv", b"c,y\nok,1\n\xff\xfe,2\n", &y(), 3, 1, "not UTF-8");
    check("no-name", b"\0\x01\x02binary", &y(), 1, 0, "cannot tell the format");
}

#[test]
fn vowpal_wabbit() {
    let plain = ReadOptions::default();
    let cases: &[(&str, u64, u64, &str)] = &[
        ("1 |f a:1\n-1 a:1\n", 2, 1, "no bar"),
        ("1 |f a:x\n", 1, 8, "`x` is not a finite number"),
        ("1 |f a:nan\n", 1, 8, "not a finite number"),
        ("1 |f a:\n", 1, 8, "no number behind the colon"),
        ("1 |f :5\n", 1, 6, "no name before the colon"),
        ("1 |f:x a\n", 1, 6, "`x` is not a finite number"),
        ("1 |f a b:1:2\n", 1, 10, "not a finite number"),
        ("1 |f a:1\n1 |f a:1e308 b:1 a:1e308\n", 2, 1, "add up to more than a number can be"),
        ("1 |f:1e300 b a:-1e300\n", 1, 14, "`a:-1e300` times the weight of its namespace"),
        ("x |f a\n", 1, 1, "`x` is not a finite number"),
        ("1 y |f a\n", 1, 3, "`y` is not a finite number"),
        ("1 2 0.5 |f a\n", 1, 5, "base"),
        ("1 2 0 5 |f a\n", 1, 7, "one word too many"),
        ("|f a\n", 1, 1, "no label"),
        ("1 |f a\n1|f a\n", 2, 1, "put a blank before the bar"),
        ("\n\n", 1, 0, "no row in the file"),
    ];
    for (text, line, column, words) in cases {
        check("x.vw", text.as_bytes(), &plain, *line, *column, words);
    }
    let head = "1 |f 1:2\n-1 |f 3:4\n".repeat(500);
    check("x.vw", format!("{head}1 |f a:2\n").as_bytes(), &plain, 1001, 6, "numbered = false");
    check("x.vw", format!("{head}1 |g 1:2\n").as_bytes(), &plain, 1001, 4, "a second namespace `g`");
    check("x.vw", format!("{head}1 |f 0:2\n").as_bytes(), &plain, 1001, 6, "not a number from 1 on");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn damaged_compression() {
    let text = "1 1:0.5 2:0.25\n-1 1:0.75\n".repeat(20_000);
    for (name, whole) in [("x.svm.gz", gzip(text.as_bytes())), ("x.svm.zst", zstd::encode_all(text.as_bytes(), 1).unwrap())] {
        let cut = &whole[..whole.len() - 9];
        let (_, error) = first_error(name, cut, &ReadOptions::default());
        assert!(error.to_string().contains("damaged or end early"), "{error}");
        let Error::Parse { line, .. } = error else { panic!("{error}") };
        assert!(line > 1, "{line}");
    }
    // A wrong byte in the middle shows as nonsense in the text or as a wrong checksum, never as a model.
    let mut broken = gzip(text.as_bytes());
    let middle = broken.len() / 2;
    broken[middle] ^= 0x5a;
    assert!(matches!(first_error("x.svm.gz", &broken, &ReadOptions::default()).1, Error::Parse { .. }));
    check("x.svm.gz", &[0x1f, 0x8b, 8, 0], &ReadOptions::default(), 1, 0, "gzip data are damaged");
}

#[test]
fn damaged_columnar_files() {
    check("x.parquet", b"PAR1 and then nothing", &y(), 1, 0, "the Parquet data cannot be read");
    check("x.parquet", b"not parquet at all", &y(), 1, 0, "the Parquet data cannot be read");
    check("x.arrow", b"ARROW1\0\0 and then nothing", &y(), 1, 0, "the Arrow data cannot be read");
    check("x.arrow", b"\xff\xff\xff\xff\x40\0\0\0 cut", &y(), 1, 0, "the Arrow data cannot be read");
}

#[test]
fn files_that_cannot_be_opened() {
    let no_file = open(&[Input::File("/no/such/file.svm".into())], &ReadOptions::default()).err().unwrap();
    assert!(matches!(&no_file, Error::Io { file, .. } if file.to_str() == Some("/no/such/file.svm")), "{no_file}");
    let directory = tempfile::tempdir().unwrap();
    let error = open(&[Input::File(directory.path().into())], &ReadOptions::default()).err().unwrap();
    assert!(error.to_string().contains("is a directory; to read the files in it"), "{error}");
    assert!(open(&[], &ReadOptions::default()).err().unwrap().to_string().contains("no input was named"));
    let twice = open(&[Input::Stdin, Input::Stdin], &ReadOptions::default()).err().unwrap();
    assert!(twice.to_string().contains("once only"));
}

#[test]
fn bad_rows_are_skipped_counted_and_limited() {
    let text = "a,b,y\n1,2,3\n1,2\n4,5,6\n,5,6\n7,8,9\n";
    for ahead in [false, true] {
        let options = ReadOptions { bad_rows: BadRows::Skip { max: 2 }, ahead, ..y() };
        let mut stream = open(&[Input::bytes("x.csv", text.as_bytes())], &options).unwrap();
        let mut targets = Vec::new();
        while let Some(row) = stream.next().unwrap() {
            assert_eq!(row.x.dim(), 3);
            targets.push(row.y);
        }
        assert_eq!(targets, [3.0, 6.0, 9.0]);
        assert_eq!(stream.tally().bad_rows, 2);
        assert!(stream.tally().first_bad[0].starts_with("x.csv:3:0: "), "{:?}", stream.tally());
        assert!(stream.tally().first_bad[1].starts_with("x.csv:5:1: "));
        let options = ReadOptions { bad_rows: BadRows::Skip { max: 1 }, ..options };
        let (rows, error) = first_error("x.csv", text.as_bytes(), &options);
        assert_eq!(rows, 2);
        assert!(error.to_string().contains("more than 1 malformed rows; the last one: x.csv:5:1"), "{error}");
    }
}

/// The schema after reading all of it, through JSON as a model file would keep it.
fn learn(name: &str, bytes: &str, options: &ReadOptions) -> Schema {
    let mut stream = open(&[Input::bytes(name, bytes.as_bytes())], options).unwrap();
    while stream.next().unwrap().is_some() {}
    let schema = stream.schema().clone();
    let saved: Schema = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
    assert_eq!(saved, schema);
    saved
}

fn predict(schema: &Schema) -> ReadOptions {
    ReadOptions { schema: Some(schema.clone()), labels: Labels::Optional, ..ReadOptions::default() }
}

#[test]
fn a_saved_schema_reads_new_data_in_the_same_way() {
    let train = "c,a,y\nred,1,yes\nblue,3,no\n";
    let schema = learn("x.csv", train, &ReadOptions { missing: Missing::Mean, ..y() });
    // Other order, no target, an extra column, an unknown category, a missing value.
    let new = "a,extra,c\n5,x,blue\n,y,green\n";
    let mut stream = open(&[Input::bytes("n.csv", new.as_bytes())], &predict(&schema)).unwrap();
    let row = stream.next().unwrap().unwrap();
    assert_eq!(row.x.iter().collect::<Vec<_>>(), [(0, 1.0), (1, 5.0), (3, 1.0)]);
    assert!(row.y.is_nan());
    let row = stream.next().unwrap().unwrap();
    assert_eq!(row.x.iter().collect::<Vec<_>>(), [(0, 1.0), (1, 2.0)], "the mean of the training rows");
    assert!(stream.next().unwrap().is_none());
    assert_eq!(stream.tally().unknown, 1);
    assert_eq!(stream.schema(), &schema, "a fixed schema does not change");
    check("n.csv", b"c,b\nred,1\n", &predict(&schema), 1, 0, "there is no column `a`");
    check("n.svm", b"1 1:2\n", &predict(&schema), 1, 0, "learned from columns with names");
    check("n.vw", b"1 |a b:2\n", &predict(&schema), 1, 0, "learned from a table");
    let evaluate = ReadOptions { labels: Labels::Required, ..predict(&schema) };
    check("n.csv", b"c,a,y\nred,1,yes\nred,1,maybe\n", &evaluate, 3, 7, "none of the classes `no`, `yes`");
    // Without a header: by place.
    let schema = learn("x.csv", "1,2,3\n4,5,6\n", &ReadOptions { target: Some("3".into()), ..ReadOptions::default() });
    assert!(!schema.header);
    check("n.csv", b"1\n", &predict(&schema), 1, 0, "the file has 1 columns, but 3 are expected");
    let mut stream = open(&[Input::bytes("n.csv", &b"7,8\n"[..])], &predict(&schema)).unwrap();
    assert_eq!(stream.next().unwrap().unwrap().x.values(), [1.0, 7.0, 8.0]);
    // Numbered and named features.
    let schema = learn("x.svm", "1 1:1 3:1\n-1 2:1\n", &ReadOptions::default());
    let mut stream = open(&[Input::bytes("n.svm", &b"0 2:5 9:1\n"[..])], &predict(&schema)).unwrap();
    assert_eq!(stream.next().unwrap().unwrap().x.iter().collect::<Vec<_>>(), [(0, 1.0), (2, 5.0)]);
    assert!(stream.next().unwrap().is_none());
    assert_eq!(stream.tally().unknown, 1);
    check("n.csv", b"a,b\n1,2\n", &predict(&schema), 1, 0, "learned from rows without columns");
    let schema = learn("x.vw", "1 |f a b:2\n-1 |g c\n", &ReadOptions::default());
    let mut stream = open(&[Input::bytes("n.vw", &b"|g c:3 d |f b\n"[..])], &predict(&schema)).unwrap();
    assert_eq!(stream.next().unwrap().unwrap().x.iter().collect::<Vec<_>>(), [(0, 1.0), (2, 1.0), (3, 3.0)]);
    assert_eq!(schema.name(3), "g^c");
}
