//! Where the bytes come from: files, wildcards, standard input, memory; gzip and zstd are taken off by their first bytes.

use std::collections::HashMap;
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::patient::Patient;
use super::steady::Steady;
use rooco::disk::File;
use rooco::{Error, Result};

/// One input.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory, with a name for messages (its ending may tell the format).
    Bytes {
        /// The name.
        name: PathBuf,
        /// The content of the file.
        bytes: Arc<[u8]>,
    },
}

impl Input {
    /// `-` is standard input; a name with `*`, `?` or `[` that is no file stands for all files that fit, sorted by name.
    pub fn expand(pattern: &str) -> Result<Vec<Input>> {
        if pattern == "-" {
            return Ok(vec![Input::Stdin]);
        }
        if pattern.is_empty() {
            return Err(Error::Option("an input has an empty name; give a file, or - for standard input".into()));
        }
        let path = PathBuf::from(pattern);
        if !pattern.contains(['*', '?', '[']) || path.exists() {
            return Ok(vec![Input::File(path)]);
        }
        let paths = glob::glob(pattern).map_err(|e| Error::Option(format!("the pattern `{pattern}` cannot be read: {e}")))?;
        let (mut files, mut seen) = (Vec::new(), HashMap::new());
        for found in paths {
            // A folder that cannot be looked into may hide rows.
            let found = found.map_err(|e| Error::Io { file: e.path().into(), source: e.into() })?;
            if found.is_dir() {
                continue;
            }
            // Links may lead to a file twice, or in circles; its rows would count as often.
            if let Some(earlier) = std::fs::canonicalize(&found).ok().and_then(|real| seen.insert(real, found.clone())) {
                let (found, earlier) = (found.display(), earlier.display());
                let what = format!(
                    "`{pattern}`: {found} and {earlier} are the same file by a link; leave one of them out, or name the files"
                );
                return Err(Error::Option(what));
            }
            files.push(Input::File(found));
        }
        if files.is_empty() {
            return Err(Error::Io {
                file: path,
                source: std::io::Error::new(std::io::ErrorKind::NotFound, "no file fits this pattern; check the directory"),
            });
        }
        Ok(files)
    }

    /// Bytes in memory as an input.
    pub fn bytes(name: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Input {
        Input::Bytes { name: name.into(), bytes: bytes.into() }
    }

    /// What it is called in messages.
    pub fn name(&self) -> &Path {
        match self {
            Input::File(path) => path,
            Input::Stdin => Path::new("<stdin>"),
            Input::Bytes { name, .. } => name,
        }
    }

    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Input::File(path) => std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len()),
            Input::Stdin => None,
            Input::Bytes { bytes, .. } => Some(bytes.len() as u64),
        }
    }

    /// False for what is gone once it was read: standard input, pipes, and devices.
    pub fn can_be_read_again(&self) -> bool {
        match self {
            Input::File(path) => std::fs::metadata(path).map_or(true, |m| m.is_file()),
            Input::Stdin => false,
            Input::Bytes { .. } => true,
        }
    }

    /// Errs if it is a file that cannot be read: better now than after hours with the inputs before it.
    pub fn look(&self) -> Result<()> {
        let Input::File(path) = self else { return Ok(()) };
        let io = |source| Error::Io { file: path.clone(), source };
        let about = std::fs::metadata(path).map_err(io)?;
        if about.is_dir() {
            let pattern = path.join("*");
            let text = format!("is a directory; to read the files in it, give '{}'", pattern.display());
            return Err(io(std::io::Error::new(std::io::ErrorKind::IsADirectory, text)));
        }
        // To open a pipe is to begin to read it.
        if about.is_file() { File::open(path).map(drop).map_err(io) } else { Ok(()) }
    }

    fn raw(&self) -> Result<Box<dyn Read + Send>> {
        self.look()?;
        let io = |source| Error::Io { file: self.name().into(), source };
        Ok(match self {
            Input::File(path) if path.is_file() => Box::new(Steady::open(path).map_err(io)?),
            Input::File(path) => {
                let path = path.clone();
                Box::new(Patient::new(move || Ok(Box::new(File::open(&path)?))).map_err(io)?)
            }
            Input::Stdin => Box::new(Patient::new(|| Ok(Box::new(std::io::stdin()))).map_err(io)?),
            Input::Bytes { bytes, .. } => Box::new(Cursor::new(bytes.clone())),
        })
    }
}

/// All inputs of a stream, opened one after the other.
pub(crate) struct Inputs {
    inputs: Vec<Input>,
    at: usize,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    /// The first input, opened early to look at its content.
    opened: Option<Opened>,
}

/// An input without its compression.
pub(crate) struct Opened {
    pub name: PathBuf,
    pub reader: Box<dyn Read + Send>,
    /// `gzip` or `zstd` if it was compressed.
    pub compression: Option<&'static str>,
}

impl Inputs {
    pub fn new(inputs: &[Input]) -> Result<Self> {
        if inputs.is_empty() {
            return Err(Error::Option("no input was named; give a file, or - for standard input".into()));
        }
        if inputs.iter().filter(|i| matches!(i, Input::Stdin)).count() > 1 {
            return Err(Error::Option("standard input (-) can be read once only".into()));
        }
        inputs.iter().try_for_each(Input::look)?;
        let total = inputs.iter().map(Input::size).sum();
        Ok(Inputs { inputs: inputs.to_vec(), at: 0, read: Arc::default(), total, opened: None })
    }

    pub fn bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub fn total_bytes(&self) -> Option<u64> {
        self.total
    }

    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// The input that will be opened next, as it was given.
    pub fn upcoming(&self) -> Option<&Input> {
        self.inputs.get(self.at)
    }

    /// The first bytes of the first input (without compression), at most `n`; they will be read again.
    pub fn peek(&mut self, n: usize) -> Result<(PathBuf, Vec<u8>)> {
        let Some(mut opened) = self.next()? else { return Ok((PathBuf::new(), Vec::new())) };
        let mut start = Vec::with_capacity(n);
        let read = (&mut opened.reader).take(n as u64).read_to_end(&mut start);
        read.map_err(|e| damaged(&opened, 1, e))?;
        opened.reader = Box::new(Cursor::new(start.clone()).chain(opened.reader));
        let name = opened.name.clone();
        self.opened = Some(opened);
        self.at = 0;
        Ok((name, start))
    }

    /// Opens the next input.
    pub fn next(&mut self) -> Result<Option<Opened>> {
        let Some(input) = self.inputs.get(self.at) else { return Ok(None) };
        self.at += 1;
        if let Some(opened) = self.opened.take() {
            return Ok(Some(opened));
        }
        let name = input.name().to_path_buf();
        let io = |source| Error::Io { file: name.clone(), source };
        let mut raw = Counting { inner: input.raw()?, read: self.read.clone() };
        let mut magic = [0; 4];
        let mut n = 0;
        while n < magic.len() {
            match raw.read(&mut magic[n..]).map_err(io)? {
                0 => break,
                k => n += k,
            }
        }
        if matches!(magic[..n], [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
            let what = "the text is UTF-16; convert it first (iconv -f UTF-16 -t UTF-8, or save it as \"CSV UTF-8\")".into();
            return Err(Error::Parse { file: name, line: 1, column: 0, what });
        }
        let whole = Cursor::new(magic[..n].to_vec()).chain(raw);
        let buffered = |r| BufReader::with_capacity(128 * 1024, r);
        let (reader, compression): (Box<dyn Read + Send>, _) = match &magic[..n] {
            [0x1f, 0x8b, ..] => (Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole))), Some("gzip")),
            [0x28, 0xb5, 0x2f, 0xfd] => {
                (Box::new(zstd::stream::read::Decoder::with_buffer(buffered(whole)).map_err(io)?), Some("zstd"))
            }
            _ => (Box::new(whole), None),
        };
        Ok(Some(Opened { name, reader, compression }))
    }
}

/// The error for bytes that cannot be had.
pub(crate) fn damaged(opened: &Opened, line: u64, source: std::io::Error) -> Error {
    match opened.compression {
        Some(kind) => Error::Parse {
            file: opened.name.clone(),
            line,
            column: 0,
            what: format!(
                "the {kind} data are damaged or end early ({source}); get the file again, or decompress what is left of it"
            ),
        },
        None => Error::Io { file: opened.name.clone(), source },
    }
}

struct Counting<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
