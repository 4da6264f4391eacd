//! Any data file with any loss.

use std::io::Read;
use std::path::{Path, PathBuf};

use rooco::Rows;
use rooco::disk::File;
use rooco::loss::{Base, LossSpec};
use rooco::rng::{Purpose, Random};
use rooco::{Error, Result};
use rooco_data::stream::{Input, ReadOptions, open};
use serde::Deserialize;

use super::Instance;

/// A data file as a problem: T of its rows, chosen at random.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// For tables.
    pub name: String,
    /// The file: libsvm, CSV, ...; relative to the experiment file.
    pub path: PathBuf,
    /// `squared`, `logistic`, ...
    pub loss: String,
    /// (l2/2)‖w‖² is added to every row's loss.
    #[serde(default)]
    pub l2: f64,
    /// W: `ball:1`, `none`, ...
    pub domain: String,
    /// The target column, where the format needs one.
    #[serde(default)]
    pub target: Option<String>,
    /// The column with the weights, of either sign.
    #[serde(default)]
    pub weight: Option<String>,
    /// Every x is divided by the largest ‖x‖, so that β does not carry the units of the file.
    #[serde(default)]
    pub normalise: bool,
}

impl DataFile {
    /// Finds the file relative to `folder`, and checks what can be checked before it is read.
    pub fn relative_to(mut self, folder: &Path) -> Result<Self> {
        self.spec()?;
        rooco::domain::parse(&self.domain, None)?;
        self.path = folder.join(&self.path);
        if !self.path.exists() {
            return Err(Error::Option(format!("there is no file {}", self.path.display())));
        }
        Ok(self)
    }

    fn spec(&self) -> Result<LossSpec> {
        let base = Base::parse(&self.loss, 2)?;
        if base.outputs() != 1 {
            return Err(Error::Combination("the lab takes losses with one score a row".into()));
        }
        Ok(LossSpec { base, correction: None, l2: self.l2 })
    }

    /// A checksum of the file's bytes (FNV-1a): when it was written, or how long it is, does not tell what is in it.
    pub fn content(&self) -> Result<u64> {
        let io = |source| Error::Io { file: self.path.clone(), source };
        let mut file = File::open(&self.path).map_err(io)?;
        let (mut hash, mut buffer) = (0xcbf2_9ce4_8422_2325u64, vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(hash),
                Ok(n) => hash = buffer[..n].iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(io(e)),
            }
        }
    }

    /// T rows of the file, chosen by the seed.
    pub fn build(&self, t: u64, seed: u64) -> Result<Instance> {
        let options = ReadOptions { target: self.target.clone(), weight: self.weight.clone(), ..ReadOptions::default() };
        let mut stream = open(&[Input::File(self.path.clone())], &options)?;
        let mut all = Rows::default();
        let (mut d, mut largest) = (0, 0.0f64);
        while let Some(z) = stream.next()? {
            d = d.max(z.x.dim());
            largest = largest.max(z.x.norm());
            all.push(z);
        }
        if (all.len() as u64) < t {
            let (path, n) = (self.path.display(), all.len());
            return Err(Error::Option(format!("{path} has {n} rows, fewer than T = {t}; lower `t`")));
        }
        let scale = if self.normalise && largest > 0.0 { 1.0 / largest } else { 1.0 };
        let mut rows = Rows::default();
        let mut x = vec![0.0; d];
        for i in Random::new(seed, Purpose::Data).order(all.len()).into_iter().take(t as usize) {
            let mut z = all.get(i as usize);
            if let rooco::Features::Dense(_) = z.x {
                x.fill(0.0);
                z.x.add_to(scale, &mut x);
                z.x = rooco::Features::Dense(&x);
                rows.push(z);
            } else {
                let (index, value): (Vec<u32>, Vec<f64>) = z.x.iter().map(|(i, v)| (i as u32, scale * v)).unzip();
                z.x = rooco::Features::Sparse { index: &index, value: &value };
                rows.push(z);
            }
        }
        let domain = rooco::domain::parse(&self.domain, d)?;
        let mut w1 = vec![0.0; d];
        domain.project(&mut w1);
        let spec = self.spec()?;
        Instance::new(&self.name, rows, spec.build()?, &self.domain, w1)
    }
}
