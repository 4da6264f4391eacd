//! The corpus that mutations start from: small files of every kind, made here so that anybody can make them again.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use rooco::state::State;
use rooco::{Row, Rows};
use rooco_data::stream::memory::Dense;
use rooco_data::stream::{SchemaFile, Stream};
use rooco_data::table_out::{OutCell, OutColumn, OutFormat, TableWriter};
use rooco_pass::fit::{FitOptions, Pass, Session};
use rooco_pass::model::file;

const CSV: &str = "y,a,b,when\n1,2.5,red,2024-01-02\n0,-3e5,\"dark, \"\"blue\"\"\",2024-02-28T10:11:12\n1,,red,1999-12-31\n";
const SVM: &str = "1 1:0.5 3:-2e3 # note\n-1 qid:2 2:1 70:1e-300\n0 \n1 5:5:5\n";
const VW: &str = "1 2.0 'tag|a x:0.5 y |b z\n-1 |a x\n|c w:-1e3 # x\n";
const JSON: &str = "{\"y\": 1, \"a\": 2.5, \"b\": \"red\"}\n{\"y\": 0, \"a\": null, \"b\": \"\\u00e9\", \"c\": [1]}\n";
const LAB: &str = "name = \"x\"\nabout = \"a\"\nseed = 3\nt = [100, 200]\norders = [2, 1]\ninstances = 1\nproblems = [\"p1 kappa=10\"]\nalgorithms = [\"ogd:0.5\", \"saga\"]\n";

/// A problem for `rooco trace`, with every field of the other losses and domains.
const TRACE: &str = r#"{"name": "x", "T": 3, "d": 1, "loss": "quadratic", "A": [[[2.0]], [[-0.5]], [[1.5]]], "b": [[1.0], [-0.5], [0.25]],
"domain": {"kind": "box", "lo": [-1.0], "hi": [1.0]}, "order": [2, 0, 1], "draws_u": [3, 1, 2], "w1": [-0.9], "w0": [0.1], "beta": 2.0, "lambda": 1.0,
"G": 3.0, "D": 2.0, "algorithm": "reservoir_sgd", "regularised": false, "x": [[1.0], [-0.5], [2.0]], "y": [1, -1, 1], "sigma2": [0.25],
"rho_plus": 0.1, "rho_minus": 0.2, "ridge": 0.5, "radius": 1}"#;

/// The type of what can go wrong while a corpus is made.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn parquet() -> Outcome<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("t.parquet");
    let column = |name: &str, is_number| OutColumn { name: name.into(), is_number };
    let mut out = TableWriter::create(&path, OutFormat::Parquet, vec![column("y", true), column("a", true), column("b", false)])?;
    for i in 0..20 {
        let a = if i % 5 == 0 { OutCell::Empty } else { OutCell::Number(f64::from(i) * 0.5) };
        out.row(vec![OutCell::Number(f64::from(i % 2)), a, OutCell::Text(["red", "blue"][i as usize % 2].into())])?;
    }
    out.finish()?;
    Ok(std::fs::read(path)?)
}

fn batch() -> Outcome<RecordBatch> {
    let y: ArrayRef = Arc::new(Float64Array::from_iter_values((0..20).map(|i| f64::from(i % 2))));
    let a: ArrayRef = Arc::new((0..20).map(|i| (i % 5 != 0).then_some(f64::from(i) * 0.5)).collect::<Float64Array>());
    let b: ArrayRef = Arc::new(StringArray::from_iter_values((0..20).map(|i| ["red", "blue"][i % 2])));
    Ok(RecordBatch::try_from_iter_with_nullable([("y", y, false), ("a", a, true), ("b", b, false)])?)
}

fn arrow(is_file: bool, compression: Option<CompressionType>) -> Outcome<Vec<u8>> {
    let (batch, mut bytes) = (batch()?, Vec::new());
    let options = IpcWriteOptions::default().try_with_compression(compression)?;
    if is_file {
        let mut out = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options)?;
        out.write(&batch)?;
        out.write(&batch)?;
        out.finish()?;
    } else {
        let mut out = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options)?;
        out.write(&batch)?;
        out.finish()?;
    }
    Ok(bytes)
}

/// Name and content of every seed of a target.
pub fn seeds(target: &str) -> Outcome<Vec<(&'static str, Vec<u8>)>> {
    let x: Vec<f64> = (0..120).map(|i| f64::from(i * 7919 % 101) / 13.0).collect();
    let y: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let open = || Dense::new(&x, 3, &y);
    let text = |t: &str| t.as_bytes().to_vec();
    Ok(match target {
        "csv" => vec![("plain", text(CSV)), ("semicolons", text(&CSV.replace("2.5", "2;5").replace("y,a,b,when", "y;a;b;when")))],
        "tsv" => vec![("plain", text(&CSV.replace(',', "\t")))],
        "libsvm" => vec![("plain", text(SVM))],
        "vw" => vec![("plain", text(VW))],
        "jsonl" => vec![("plain", text(JSON))],
        "any" => vec![
            ("csv", text(CSV)),
            ("svm", text(SVM)),
            ("vw", text(VW)),
            ("json", text(JSON)),
            ("parquet", parquet()?),
            ("arrow", arrow(true, None)?),
        ],
        "gzip" => {
            let mut whole = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            whole.write_all(CSV.as_bytes())?;
            vec![("text", text(CSV)), ("body", whole.finish()?[2..].to_vec())]
        }
        "zstd" => vec![("text", text(CSV)), ("body", zstd::encode_all(CSV.as_bytes(), 3)?[4..].to_vec())],
        "parquet" => vec![("plain", parquet()?)],
        "arrow" => vec![
            ("file", arrow(true, None)?),
            ("stream", arrow(false, None)?),
            ("file-zstd", arrow(true, Some(CompressionType::ZSTD))?),
            ("stream-lz4", arrow(false, Some(CompressionType::LZ4_FRAME))?),
        ],
        "model" => vec![("default", file::model_bytes(&Pass::run(&mut open()?, &FitOptions::default(), None, &mut ())?.model)?)],
        "checkpoint" => {
            let mut stream = open()?;
            let mut session = Session::new(FitOptions::default());
            session.take(&mut stream, 30)?;
            let c = session.checkpoint(&stream.schema().clone())?;
            vec![("default", file::checkpoint_bytes(&c.about, &c.state)?)]
        }
        "state" => {
            let rule = Pass::run(&mut open()?, &FitOptions::default(), None, &mut ())?.model.rule.save();
            let mut rows = Rows::default();
            rows.push(Row::dense(&[1.0, 2.0], 0.5));
            rows.push(Row::sparse(&[3, 9], &[1.0, -1.0], 1.0));
            let mut small = State::of("toy 1");
            small.put_u32("last", [7u32]);
            vec![("rule", rule.to_bytes()), ("rows", rows.save().to_bytes()), ("small", small.to_bytes())]
        }
        "lab" => vec![("plain", text(LAB))],
        "trace" => {
            let other = |loss: &str, domain: &str, algorithm: &str| {
                let text = TRACE.replace("\"quadratic\"", loss).replace("reservoir_sgd", algorithm);
                text.replace(r#"{"kind": "box", "lo": [-1.0], "hi": [1.0]}"#, domain).into_bytes()
            };
            let ball = r#"{"kind": "ball", "radius": 2.5}"#;
            vec![
                ("quadratic", text(TRACE)),
                ("eiv", other("\"eiv\"", ball, "ogd")),
                ("noisy-logistic", other("\"noisy_logistic\"", ball, "mixture_sgd")),
                ("regularised", text(&TRACE.replace("false", "true").replace("reservoir_sgd", "sgd_wor"))),
            ]
        }
        "schema" => {
            let input = rooco_data::stream::Input::bytes("t.csv", CSV.as_bytes().to_vec());
            let options = rooco_data::stream::ReadOptions {
                target: Some("y".into()),
                missing: rooco_data::stream::Missing::Typical,
                ..Default::default()
            };
            let schema = rooco_data::stream::open(&[input], &options)?.schema().clone();
            vec![("plain", text(&SchemaFile::text(&schema, true)))]
        }
        _ => Vec::new(),
    })
}

/// Writes the seeds of a target into its corpus, where they are missing.
pub fn write(target: &str, to: &Path) -> Outcome<()> {
    std::fs::create_dir_all(to)?;
    for (name, bytes) in seeds(target)? {
        let path = to.join(format!("seed-{name}"));
        if !path.exists() {
            std::fs::write(path, bytes)?;
        }
    }
    Ok(())
}
