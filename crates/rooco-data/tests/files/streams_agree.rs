//! The same data in every format, plain or compressed, parsed ahead or not, give the same rows, bit for bit.

use std::io::Write as _;

use rooco::rng::{Purpose, Random};
use rooco::{Features, Row};
use rooco_data::stream::{Format, Input, Missing, ReadOptions, Stream, open};

/// A row with everything it owns.
#[derive(Clone, Debug, PartialEq)]
struct Owned {
    dense: bool,
    x: Vec<(usize, u64)>,
    y: u64,
    weight: u64,
}

impl Owned {
    fn of(row: Row<'_>) -> Self {
        Owned {
            dense: matches!(row.x, Features::Dense(_)),
            x: row.x.iter().map(|(i, v)| (i, v.to_bits())).collect(),
            y: row.y.to_bits(),
            weight: row.weight.to_bits(),
        }
    }
}

fn read(mut stream: Box<dyn Stream>) -> Vec<Owned> {
    let mut rows = Vec::new();
    while let Some(row) = stream.next().unwrap() {
        rows.push(Owned::of(row));
    }
    assert_eq!(stream.position().rows, rows.len() as u64);
    assert!(stream.next().unwrap().is_none(), "the end stays the end");
    rows
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// As it is, as gzip, as two gzip members, as zstd, each read directly and ahead.
fn read_all_ways(name: &str, bytes: &[u8], options: &ReadOptions) -> Vec<Owned> {
    let half = bytes.len() / 2;
    let files =
        [bytes.to_vec(), gzip(bytes), [gzip(&bytes[..half]), gzip(&bytes[half..])].concat(), zstd::encode_all(bytes, 1).unwrap()];
    let mut all: Vec<Vec<Owned>> = Vec::new();
    for file in files {
        for ahead in [false, true] {
            let options = ReadOptions { ahead, ..options.clone() };
            all.push(read(open(&[Input::bytes(name, file.clone())], &options).unwrap()));
        }
    }
    assert!(all.windows(2).all(|w| w[0] == w[1]), "{name}: compression or threads change the rows");
    all.swap_remove(0)
}

struct Data {
    x: Vec<[f64; 5]>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

/// Short decimals, long ones, tiny and huge ones; no zeros, because sparse formats may leave them out.
fn data(rows: usize) -> Data {
    let mut random = Random::new(3, Purpose::Test);
    let mut value = || loop {
        let v = random.normal();
        let v = match random.below(4) {
            0 => (v * 1e3).round() / 1e3,
            1 => v,
            2 => v * 1e-200,
            _ => (v * 1e9).round(),
        };
        if v != 0.0 {
            return v;
        }
    };
    let mut data = Data { x: Vec::new(), y: Vec::new(), weight: Vec::new() };
    for _ in 0..rows {
        data.x.push(std::array::from_fn(|_| value()));
        data.y.push(value());
        data.weight.push(value());
    }
    data
}

impl Data {
    fn text(&self, row: impl Fn(&[f64; 5], f64, f64) -> String) -> Vec<u8> {
        let lines = self.x.iter().zip(&self.y).zip(&self.weight).map(|((x, &y), &w)| row(x, y, w));
        lines.collect::<Vec<_>>().join("\n").into_bytes()
    }

    fn libsvm(&self) -> Vec<u8> {
        self.text(|x, y, w| format!("{y} 1:{} 2:{} 3:{} 4:{} 5:{} 6:{w} # a comment", x[0], x[1], x[2], x[3], x[4]))
    }

    fn csv(&self, delimiter: &str) -> Vec<u8> {
        let header = ["a", "w", "b", "c", "y", "d", "e"].join(delimiter);
        let rows = self.text(|x, y, w| [x[0], w, x[1], x[2], y, x[3], x[4]].map(|v| v.to_string()).join(delimiter));
        [header.as_bytes(), b"\r\n", &rows, b"\r\n"].concat()
    }

    fn vw(&self) -> Vec<u8> {
        self.text(|x, y, w| format!("{y} {w} 'tag|n 2:{} 1:{} 3:{} 4:{} 5:{}", x[1], x[0], x[2], x[3], x[4]))
    }

    fn vw_named(&self) -> Vec<u8> {
        self.text(|x, y, w| format!("{y} {w} |n:1 a:{} b:{} |m c:{} d:{} e:{}", x[0], x[1], x[2], x[3], x[4]))
    }

    fn columns(&self) -> Vec<(&'static str, Vec<f64>)> {
        let x = |k: usize| self.x.iter().map(|x| x[k]).collect();
        let (w, y) = (self.weight.clone(), self.y.clone());
        vec![("a", x(0)), ("w", w), ("b", x(1)), ("c", x(2)), ("y", y), ("d", x(3)), ("e", x(4))]
    }
}

fn table() -> ReadOptions {
    ReadOptions { target: Some("y".into()), weight: Some("w".into()), ..ReadOptions::default() }
}

/// Every format's rows, by its name.
fn everything(data: &Data, intercept: bool) -> Vec<(&'static str, Vec<Owned>)> {
    let plain = ReadOptions { intercept, ..ReadOptions::default() };
    let table = ReadOptions { intercept, ..table() };
    let weighted = ReadOptions { weight: Some("6".into()), ..plain.clone() };
    #[allow(unused_mut)]
    let mut all = vec![
        ("libsvm", read_all_ways("x.svm", &data.libsvm(), &weighted)),
        ("csv", read_all_ways("x.csv", &data.csv(","), &table)),
        ("tsv", read_all_ways("x.tsv", &data.csv("\t"), &table)),
        ("semicolons", read_all_ways("x.csv", &data.csv(";"), &table)),
        ("vw", read_all_ways("x.vw", &data.vw(), &plain)),
        ("vw names", read_all_ways("x.vw", &data.vw_named(), &plain)),
    ];
    all.push(("parquet", read_all_ways("x.parquet", &columnar::parquet(&data.columns(), 1700), &table)));
    {
        all.push(("arrow file", read_all_ways("x.arrow", &columnar::arrow(&data.columns(), 700, true), &table)));
        all.push(("arrow stream", read_all_ways("x.arrow", &columnar::arrow(&data.columns(), 700, false), &table)));
    }
    all
}

#[test]
fn every_format_gives_the_same_rows() {
    let data = data(4000);
    for intercept in [true, false] {
        let all = everything(&data, intercept);
        let first = usize::from(intercept);
        let expected: Vec<Owned> = (0..data.y.len())
            .map(|t| {
                let mut x: Vec<f64> = vec![1.0; first];
                x.extend(data.x[t]);
                Owned::of(Row::dense(&x, data.y[t]).weighted(data.weight[t]))
            })
            .collect();
        for (format, rows) in all {
            assert_eq!(rows.len(), expected.len(), "{format}");
            for (t, (row, expected)) in rows.iter().zip(&expected).enumerate() {
                assert_eq!(row, expected, "{format}, row {t}");
            }
        }
    }
}

#[test]
fn the_format_is_found_by_content() {
    let data = data(10);
    for (bytes, options) in [
        (data.libsvm(), ReadOptions { weight: Some("6".into()), ..ReadOptions::default() }),
        (data.csv(","), table()),
        (data.csv("\t"), table()),
        (data.vw(), ReadOptions::default()),
    ] {
        let rows = read(open(&[Input::bytes("no-ending", bytes)], &options).unwrap());
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[3].weight, data.weight[3].to_bits());
    }
    assert_eq!("svmlight".parse::<Format>().unwrap(), Format::Libsvm);
}

#[test]
fn several_files_are_one_stream_and_columns_may_change_places() {
    let one = "a,b,y\n1,2,3\n4,5,6\n";
    let two = "y,c,a,b\n9,0,7,8\n";
    let inputs = [Input::bytes("1.csv", one.as_bytes()), Input::bytes("2.csv", two.as_bytes())];
    let options = ReadOptions { target: Some("y".into()), ..ReadOptions::default() };
    let rows = read(open(&inputs, &options).unwrap());
    let expected = [Row::dense(&[1.0, 1.0, 2.0], 3.0), Row::dense(&[1.0, 4.0, 5.0], 6.0), Row::dense(&[1.0, 7.0, 8.0], 9.0)];
    assert_eq!(rows, expected.map(Owned::of));
}

#[test]
fn files_are_found_by_wildcards_in_order() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in [("b.svm", "2 1:1\n"), ("a.svm", "1 1:1"), ("c.txt", "x")] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let pattern = directory.path().join("*.svm");
    let inputs = Input::expand(pattern.to_str().unwrap()).unwrap();
    assert_eq!(inputs.len(), 2);
    let options = ReadOptions { target_kind: rooco_data::stream::TargetKind::Number, ..ReadOptions::default() };
    let mut stream = open(&inputs, &options).unwrap();
    assert_eq!(stream.position().total_bytes, Some(11));
    assert_eq!(stream.next().unwrap().unwrap().y, 1.0);
    assert_eq!(stream.next().unwrap().unwrap().y, 2.0);
    assert!(stream.next().unwrap().is_none());
    assert_eq!(stream.position().bytes, 11);
    assert!(Input::expand(directory.path().join("*.none").to_str().unwrap()).is_err());
}

/// Categories, missing values and quotes.
const MIXED: &str = "\
id,colour,size,flag,y\n\
1,red,1.5,true,yes\n\
2,\"dark, blue\",,false,no\n\
3,red,NA,true,yes\n\
4,,2.5,false,no\n\
5,\"a \"\"b\"\"\nc\",3.5,true,yes\n";

fn mixed() -> ReadOptions {
    let target = Some("y".into());
    ReadOptions { target, drop: vec!["id".into()], missing: Missing::Mean, ..ReadOptions::default() }
}

#[test]
fn categories_and_missing_values_are_the_same_in_every_format() {
    let rows = read_all_ways("m.csv", MIXED.as_bytes(), &mixed());
    // Coordinates: intercept, size, flag, then colours as they come. A missing size is the mean of those before it.
    let row = |index: &[u32], value: &[f64], y: f64| Owned::of(Row::sparse(index, value, y));
    let expected = [
        Owned { dense: true, ..row(&[0, 1, 2, 3], &[1.0, 1.5, 1.0, 1.0], 1.0) },
        row(&[0, 1, 2, 4], &[1.0, 1.5, 0.0, 1.0], -1.0),
        Owned { dense: true, ..row(&[0, 1, 2, 3], &[1.0, 1.5, 1.0, 1.0], 1.0) },
        Owned { dense: true, ..row(&[0, 1, 2], &[1.0, 2.5, 0.0], -1.0) },
        row(&[0, 1, 2, 5], &[1.0, 3.5, 1.0, 1.0], 1.0),
    ];
    assert_eq!(rows, expected);
    let mut stream = open(&[Input::bytes("m.csv", MIXED.as_bytes())], &mixed()).unwrap();
    while stream.next().unwrap().is_some() {}
    let names: Vec<String> = (0..stream.schema().features()).map(|k| stream.schema().name(k)).collect();
    assert_eq!(names, ["(intercept)", "size", "flag", "colour=red", "colour=dark, blue", "colour=a \"b\"\nc"]);
    assert_eq!(read_all_ways("m.arrow", &columnar::mixed_arrow(), &mixed()), expected);
    assert_eq!(read_all_ways("m.parquet", &columnar::mixed_parquet(), &mixed()), expected);
}

/// What the test writes, the way other programs write it.
mod columnar {
    use std::sync::Arc;

    const COLOURS: [Option<&str>; 5] = [Some("red"), Some("dark, blue"), Some("red"), None, Some("a \"b\"\nc")];
    const SIZES: [Option<f64>; 5] = [Some(1.5), None, None, Some(2.5), Some(3.5)];
    const FLAGS: [bool; 5] = [true, false, true, false, true];
    const TARGETS: [&str; 5] = ["yes", "no", "yes", "no", "yes"];

    fn arrow_bytes(batches: &[arrow_array::RecordBatch], file: bool) -> Vec<u8> {
        let schema = batches[0].schema();
        let mut out = Vec::new();
        if file {
            let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut out, &schema).unwrap();
            batches.iter().for_each(|b| writer.write(b).unwrap());
            writer.finish().unwrap();
        } else {
            let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut out, &schema).unwrap();
            batches.iter().for_each(|b| writer.write(b).unwrap());
            writer.finish().unwrap();
        }
        out
    }

    pub fn arrow(columns: &[(&'static str, Vec<f64>)], batch: usize, file: bool) -> Vec<u8> {
        use arrow_array::{ArrayRef, Float64Array, RecordBatch};
        let arrays = columns.iter().map(|(n, v)| (*n, Arc::new(Float64Array::from(v.clone())) as ArrayRef));
        let all = RecordBatch::try_from_iter(arrays).unwrap();
        let slices = (0..all.num_rows()).step_by(batch).map(|t| all.slice(t, batch.min(all.num_rows() - t)));
        arrow_bytes(&slices.collect::<Vec<_>>(), file)
    }

    pub fn mixed_arrow() -> Vec<u8> {
        use arrow_array::types::Int8Type;
        use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
        let colours: DictionaryArray<Int8Type> = COLOURS.into_iter().collect();
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5])) as ArrayRef, false),
            ("colour", Arc::new(colours) as ArrayRef, true),
            ("size", Arc::new(Float64Array::from(SIZES.to_vec())) as ArrayRef, true),
            ("flag", Arc::new(BooleanArray::from(FLAGS.to_vec())) as ArrayRef, false),
            ("y", Arc::new(StringArray::from(TARGETS.to_vec())) as ArrayRef, false),
        ]);
        arrow_bytes(&[batch.unwrap()], true)
    }

    use parquet::{
        data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
    };

    fn writer(schema: &str) -> SerializedFileWriter<Vec<u8>> {
        let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
        let properties = WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY);
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).unwrap()
    }

    pub fn parquet(columns: &[(&'static str, Vec<f64>)], group: usize) -> Vec<u8> {
        let fields: String = columns.iter().map(|(n, _)| format!("required double {n};")).collect();
        let mut writer = writer(&format!("message m {{ {fields} }}"));
        let rows = columns[0].1.len();
        for t in (0..rows).step_by(group) {
            let mut row_group = writer.next_row_group().unwrap();
            for (_, values) in columns {
                let mut column = row_group.next_column().unwrap().unwrap();
                column.typed::<DoubleType>().write_batch(&values[t..rows.min(t + group)], None, None).unwrap();
                column.close().unwrap();
            }
            row_group.close().unwrap();
        }
        writer.into_inner().unwrap()
    }

    pub fn mixed_parquet() -> Vec<u8> {
        let mut writer = writer(
            "message m { required int32 id; optional binary colour (UTF8); optional double size; required boolean flag; \
             required binary y (UTF8); }",
        );
        let mut group = writer.next_row_group().unwrap();
        macro_rules! column {
            ($t:ty, $values:expr, $levels:expr) => {{
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$t>().write_batch(&$values, $levels, None).unwrap();
                column.close().unwrap();
            }};
        }
        let levels = |there: [bool; 5]| there.map(i16::from);
        column!(Int32Type, [1, 2, 3, 4, 5], None);
        let colours: Vec<ByteArray> = COLOURS.into_iter().flatten().map(ByteArray::from).collect();
        column!(ByteArrayType, colours, Some(&levels(COLOURS.map(|c| c.is_some()))));
        let sizes: Vec<f64> = SIZES.into_iter().flatten().collect();
        column!(DoubleType, sizes, Some(&levels(SIZES.map(|s| s.is_some()))));
        column!(BoolType, FLAGS, None);
        column!(ByteArrayType, TARGETS.map(ByteArray::from), None);
        group.close().unwrap();
        writer.into_inner().unwrap()
    }
}
