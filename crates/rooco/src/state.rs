//! What a learner saves and resumes from: named arrays, nothing else. The model file stores them as tensors.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// One saved array.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 64-bit reals.
    F64(Vec<f64>),
    /// 32-bit reals.
    F32(Vec<f32>),
    /// Counters, indices, generator states.
    U64(Vec<u64>),
    /// Indices of sparse rows.
    U32(Vec<u32>),
}

/// The whole state of a learner, to the last bit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State(BTreeMap<String, Values>);

macro_rules! accessors {
    ($($put:ident $get:ident $variant:ident $t:ty;)*) => {$(
        /// Saves an array under a name.
        pub fn $put(&mut self, name: &str, values: impl Into<Vec<$t>>) {
            self.0.insert(name.to_owned(), Values::$variant(values.into()));
        }
        /// Reads an array back.
        pub fn $get(&self, name: &str) -> Result<&[$t]> {
            match self.0.get(name) {
                Some(Values::$variant(v)) => Ok(v),
                _ => Err(Error::Unsupported(format!("the saved state has no array `{name}` of the right kind: it belongs to another algorithm or version"))),
            }
        }
    )*};
}

impl State {
    accessors! {
        put_f64 f64 F64 f64;
        put_f32 f32 F32 f32;
        put_u64 u64 U64 u64;
        put_u32 u32 U32 u32;
    }

    /// Reads one counter.
    pub fn counter(&self, name: &str) -> Result<u64> {
        match self.u64(name)? {
            [value] => Ok(*value),
            other => Err(Error::Dimension { what: format!("the saved `{name}`"), expected: 1, found: other.len() }),
        }
    }

    /// Adds an array as it is.
    pub fn insert(&mut self, name: String, values: Values) {
        self.0.insert(name, values);
    }

    /// Adds all arrays of another state under a prefix.
    pub fn put_all(&mut self, prefix: &str, other: State) {
        self.0.extend(other.0.into_iter().map(|(name, values)| (format!("{prefix}{name}"), values)));
    }

    /// The arrays whose names start with `prefix`, without it.
    pub fn part(&self, prefix: &str) -> State {
        State(self.0.iter().filter_map(|(n, v)| Some((n.strip_prefix(prefix)?.to_owned(), v.clone()))).collect())
    }

    /// All arrays by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v))
    }
}
