//! What a learner saves and resumes from: named numbers and arrays, nothing else.
//!
//! A state says whose it is ([`State::of`]), and a learner refuses that of another ([`State::expect`]). Files store its arrays as
//! tensors; without files it goes through [`State::to_bytes`] and back, to the last bit.
//!
//! ```text
//! "rooco state 1\n"   number of entries: u32
//! an entry:           length of its name: u32, name, type: u8, number of values: u64, values, little-endian
//! the end:            FNV-1a of all that came before: u64
//! ```

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// The entry that says whose state it is.
const OWNER: &str = "owner";
const MAGIC: &[u8] = b"rooco state 1\n";

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
    /// A text.
    Text(String),
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
                _ => Err(Error::State { what: format!("it has no array `{name}` of the right kind") }),
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

    /// An empty state of this owner: a name and, where its layout changes, a version.
    pub fn of(owner: &str) -> Self {
        let mut state = State::default();
        state.put_text(OWNER, owner);
        state
    }

    /// Errs unless the state is that of this owner.
    pub fn expect(&self, owner: &str) -> Result<()> {
        match self.text(OWNER) {
            Ok(found) if found == owner => Ok(()),
            Ok(found) => Err(Error::State { what: format!("it is that of `{found}`, not of `{owner}`") }),
            Err(_) => Err(Error::State { what: format!("it does not say that it is of `{owner}`") }),
        }
    }

    /// Saves a whole number.
    pub fn put_count(&mut self, name: &str, value: u64) {
        self.put_u64(name, [value]);
    }

    /// Reads a whole number that counts something: at most 2⁶², which nothing reaches, so that whoever counts on cannot overflow.
    pub fn count(&self, name: &str) -> Result<u64> {
        match self.word(name)? {
            n if n <= 1 << 62 => Ok(n),
            n => Err(Error::State { what: format!("`{name}` is {n}, more than there can be: it is damaged") }),
        }
    }

    /// Reads a word of any 64 bits: a checksum, the state of a generator, a number with a sign.
    pub fn word(&self, name: &str) -> Result<u64> {
        one(name, self.u64(name)?)
    }

    /// Saves a number.
    pub fn put_number(&mut self, name: &str, value: f64) {
        self.put_f64(name, [value]);
    }

    /// Reads a number.
    pub fn number(&self, name: &str) -> Result<f64> {
        one(name, self.f64(name)?)
    }

    /// Saves a text.
    pub fn put_text(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), Values::Text(text.to_owned()));
    }

    /// Reads a text.
    pub fn text(&self, name: &str) -> Result<&str> {
        match self.0.get(name) {
            Some(Values::Text(text)) => Ok(text),
            _ => Err(Error::State { what: format!("it has no text `{name}`") }),
        }
    }

    /// True if there is an entry of that name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Adds an array as it is.
    pub fn insert(&mut self, name: String, values: Values) {
        self.0.insert(name, values);
    }

    /// Adds all entries of another state under a prefix.
    pub fn put_all(&mut self, prefix: &str, other: State) {
        self.0.extend(other.0.into_iter().map(|(name, values)| (format!("{prefix}{name}"), values)));
    }

    /// The entries whose names start with `prefix`, without it.
    pub fn part(&self, prefix: &str) -> State {
        State(self.0.iter().filter_map(|(n, v)| Some((n.strip_prefix(prefix)?.to_owned(), v.clone()))).collect())
    }

    /// The length of its longest array: nothing that it describes can be larger.
    pub fn longest(&self) -> usize {
        let length = |values: &Values| match values {
            Values::F64(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::U64(v) => v.len(),
            Values::U32(v) => v.len(),
            Values::Text(v) => v.len(),
        };
        self.0.values().map(length).max().unwrap_or(0)
    }

    /// All entries by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v))
    }

    /// The state as bytes, equal for equal states.
    pub fn to_bytes(&self) -> Vec<u8> {
        fn put<T, const N: usize>(out: &mut Vec<u8>, kind: u8, values: &[T], bytes: impl Fn(&T) -> [u8; N]) {
            out.push(kind);
            out.extend((values.len() as u64).to_le_bytes());
            values.iter().for_each(|v| out.extend(bytes(v)));
        }
        let mut out = MAGIC.to_vec();
        out.extend((self.0.len() as u32).to_le_bytes());
        for (name, values) in &self.0 {
            out.extend((name.len() as u32).to_le_bytes());
            out.extend(name.as_bytes());
            match values {
                Values::F64(v) => put(&mut out, 0, v, |v| v.to_le_bytes()),
                Values::F32(v) => put(&mut out, 1, v, |v| v.to_le_bytes()),
                Values::U64(v) => put(&mut out, 2, v, |v| v.to_le_bytes()),
                Values::U32(v) => put(&mut out, 3, v, |v| v.to_le_bytes()),
                Values::Text(v) => put(&mut out, 4, v.as_bytes(), |v| [*v]),
            }
        }
        out.extend(fnv(&out).to_le_bytes());
        out
    }

    /// The state that [`to_bytes`](Self::to_bytes) wrote. Any other bytes are an error, and allocate no more than they are long.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = || Error::State { what: "its bytes are cut off, changed, or of another program or version".into() };
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        if !body.starts_with(MAGIC) || fnv(body).to_le_bytes() != *sum {
            return Err(damaged());
        }
        let mut reader = Reader(&body[MAGIC.len()..]);
        let mut state = State::default();
        for _ in 0..reader.u32().ok_or_else(damaged)? {
            let (name, values) = reader.entry().ok_or_else(damaged)?;
            state.0.insert(name, values);
        }
        if reader.0.is_empty() { Ok(state) } else { Err(damaged()) }
    }
}

fn one<T: Copy>(name: &str, values: &[T]) -> Result<T> {
    match values {
        [value] => Ok(*value),
        other => Err(Error::State { what: format!("`{name}` has {} values where one is needed", other.len()) }),
    }
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes)
    }

    fn entry(&mut self) -> Option<(String, Values)> {
        let n = self.u32()? as usize;
        let name = std::str::from_utf8(self.take(n)?).ok()?.to_owned();
        let kind = self.take(1)?[0];
        let n = usize::try_from(self.u64()?).ok()?;
        let values = match kind {
            0 => Values::F64(self.array(n, f64::from_le_bytes)?),
            1 => Values::F32(self.array(n, f32::from_le_bytes)?),
            2 => Values::U64(self.array(n, u64::from_le_bytes)?),
            3 => Values::U32(self.array(n, u32::from_le_bytes)?),
            4 => Values::Text(std::str::from_utf8(self.take(n)?).ok()?.to_owned()),
            _ => return None,
        };
        Some((name, values))
    }

    /// The bytes are taken before anything is allocated: a wrong length costs nothing.
    fn array<const N: usize, T>(&mut self, n: usize, from: fn([u8; N]) -> T) -> Option<Vec<T>> {
        Some(self.take(n.checked_mul(N)?)?.as_chunks::<N>().0.iter().map(|&b| from(b)).collect())
    }
}

/// FNV-1a: enough against damage; against malice every length is checked.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ *b as u64).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> State {
        let mut s = State::of("toy 1");
        s.put_count("rounds", 7);
        s.put_number("sum", -0.0);
        s.put_f32("cells", [1.5f32, f32::MIN_POSITIVE / 2.0]);
        s.put_u32("last", [u32::MAX]);
        s.put_f64("none", []);
        s
    }

    #[test]
    fn bytes_and_back_to_the_last_bit() {
        let s = example();
        let back = State::from_bytes(&s.to_bytes()).unwrap();
        assert_eq!(back, s);
        assert_eq!((back.count("rounds").unwrap(), back.number("sum").unwrap().to_bits()), (7, (-0.0f64).to_bits()));
        back.expect("toy 1").unwrap();
        assert!(back.expect("toy 2").unwrap_err().to_string().contains("that of `toy 1`, not of `toy 2`"));
    }

    /// Every cut and every changed byte is an error; with a repaired checksum it is an error or another state, never a panic.
    #[test]
    fn damaged_bytes_are_an_error() {
        let bytes = example().to_bytes();
        for n in 0..bytes.len() {
            assert!(State::from_bytes(&bytes[..n]).is_err());
            for flip in [1u8, 0x80, 0xff] {
                let mut bad = bytes.clone();
                bad[n] ^= flip;
                assert!(State::from_bytes(&bad).is_err());
                let body = bad.len() - 8;
                let sum = fnv(&bad[..body]).to_le_bytes();
                bad[body..].copy_from_slice(&sum);
                let _ = State::from_bytes(&bad);
            }
        }
    }
}
