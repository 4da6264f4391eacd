//! Model and checkpoint files: safetensors, readable by any safetensors library.
//!
//! The tensors are the numbers; the metadata has one entry, `rooco`, a JSON object with `format` (the version of this layout),
//! `kind` (`model` or `checkpoint`), `checksum` and `about`. One entry, because safetensors keeps metadata in a hash map: two
//! would come in random order, and files of equal runs must be equal.
//!
//! A file is written beside its place and renamed, so that a failure leaves what was there before.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{About, Model};
use crate::intervals::Residuals;
use rooco::Rule;
use rooco::optimum::Expansion;
use rooco::state::{State, Values};
use rooco::{Error, Result};

/// The version of the layout that this library writes.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    kind: String,
    checksum: u32,
    about: serde_json::Value,
}

/// Writes a model.
pub fn save_model(path: &Path, model: &Model) -> Result<()> {
    write_atomically(path, &model_bytes(model)?)
}

/// A model as the bytes of its file.
pub fn model_bytes(model: &Model) -> Result<Vec<u8>> {
    let mut s = model.rule.save();
    if let Some(errors) = &model.errors {
        s.put_f64("standard_errors", errors.clone());
    }
    if let Some(sums) = &model.sums {
        s.put_all("sums.", sums.save());
    }
    put_residuals(model, &mut s);
    to_bytes("model", &model.about, &s, model.rule.outputs)
}

/// Writes a model with the state that learning can go on from, and returns how many bytes the state takes.
pub fn save_model_with_state<A: Serialize>(path: &Path, model: &Model, about: &A, state: &State) -> Result<usize> {
    let alone = model_bytes(model)?.len();
    let bytes = model_with_state_bytes(model, about, state)?;
    write_atomically(path, &bytes)?;
    Ok(bytes.len() - alone)
}

/// A model with its state, as the bytes of its file.
pub fn model_with_state_bytes<A: Serialize>(model: &Model, about: &A, state: &State) -> Result<Vec<u8>> {
    let mut s = model.rule.save();
    put_residuals(model, &mut s);
    let about = serde_json::to_string(about).map_err(|e| Error::Unsupported(format!("cannot describe the state: {e}")))?;
    s.put_text(STATE_ABOUT, &about);
    s.put_all(STATE, state.clone());
    to_bytes("model", &model.about, &s, model.rule.outputs)
}

fn put_residuals(model: &Model, s: &mut State) {
    if let Some(residuals) = &model.residuals {
        s.put_f64("residuals", residuals.values());
    }
}

/// The state in a model file, if it carries one.
pub fn load_state<A: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<(A, State)>> {
    let (_, all): (About, State) = from_bytes(path, "model", &read(path)?)?;
    let Ok(about) = all.text(STATE_ABOUT) else { return Ok(None) };
    let about = serde_json::from_str(about).map_err(|e| bad(path, format!("the description of its state is damaged ({e})")))?;
    Ok(Some((about, all.part(STATE))))
}

/// Names of the tensors of a state in a model file.
const STATE: &str = "state.";
const STATE_ABOUT: &str = "state-about";

/// Reads a model.
pub fn load_model(path: &Path) -> Result<Model> {
    model_from_bytes(path, &read(path)?)
}

/// A model from the bytes of its file; `path` is for messages.
pub fn model_from_bytes(path: &Path, bytes: &[u8]) -> Result<Model> {
    let (about, state): (About, State) = from_bytes(path, "model", bytes)?;
    let outputs = about.loss.base.outputs();
    let rule = Rule::load(&state).map_err(|e| bad(path, e.to_string()))?;
    let errors = state.f64("standard_errors").ok().map(<[f64]>::to_vec);
    let carried = state.part("sums.");
    let sums = if carried.has("at") { Some(Expansion::load(&carried)?) } else { None };
    let residuals = match state.f64("residuals") {
        Ok(values) => Some(Residuals::restored(values.to_vec()).ok_or_else(|| bad(path, "its residuals are no numbers".into()))?),
        Err(_) => None,
    };
    let fits = rule.outputs == outputs
        && errors.as_ref().is_none_or(|e| e.len() == rule.weights.len())
        && sums.as_ref().is_none_or(|s| s.dim() == rule.weights.len() && s.outputs == outputs);
    if !fits {
        return Err(bad(path, "its tensors do not fit together".into()));
    }
    Ok(Model { about, rule, errors, sums, residuals })
}

/// Writes a learner's state with a description.
pub fn save_checkpoint<A: Serialize>(path: &Path, about: &A, state: &State) -> Result<()> {
    write_atomically(path, &checkpoint_bytes(about, state)?)
}

/// A learner's state with a description, as the bytes of its file.
pub fn checkpoint_bytes<A: Serialize>(about: &A, state: &State) -> Result<Vec<u8>> {
    to_bytes("checkpoint", about, state, 1)
}

/// A learner's state from the bytes of its file; `path` is for messages.
pub fn checkpoint_from_bytes<A: for<'a> Deserialize<'a>>(path: &Path, bytes: &[u8]) -> Result<(A, State)> {
    from_bytes(path, "checkpoint", bytes)
}

/// Reads a learner's state and its description.
pub fn load_checkpoint<A: for<'a> Deserialize<'a>>(path: &Path) -> Result<(A, State)> {
    checkpoint_from_bytes(path, &read(path)?)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Io { file: path.into(), source })
}

fn bad(path: &Path, what: String) -> Error {
    Error::Damaged { file: path.into(), what }
}

fn to_bytes<A: Serialize>(kind: &str, about: &A, state: &State, outputs: usize) -> Result<Vec<u8>> {
    let about = serde_json::to_value(about).map_err(|e| Error::Unsupported(format!("cannot describe the model: {e}")))?;
    let mut buffers = Vec::new();
    for (name, values) in state.iter() {
        let (dtype, bytes): (Dtype, Vec<u8>) = match values {
            Values::F64(v) => (Dtype::F64, v.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Values::F32(v) => (Dtype::F32, v.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Values::U64(v) => (Dtype::U64, v.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Values::U32(v) => (Dtype::U32, v.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Values::Text(v) => (Dtype::U8, v.as_bytes().to_vec()),
        };
        let count = bytes.len() / (dtype.bitsize() / 8);
        // The weights of a model get their natural shape, features × outputs.
        let shape = if name == "weights" && outputs > 1 { vec![count / outputs, outputs] } else { vec![count] };
        buffers.push((name.to_owned(), dtype, shape, bytes));
    }
    let head = Head { format: FORMAT, kind: kind.into(), checksum: checksum(&about, state), about };
    let head = serde_json::to_string(&head).map_err(|e| Error::Unsupported(format!("cannot describe the model: {e}")))?;
    let mut views = Vec::new();
    for (name, dtype, shape, bytes) in &buffers {
        let view =
            TensorView::new(*dtype, shape.clone(), bytes).map_err(|e| Error::Unsupported(format!("tensor {name}: {e}")))?;
        views.push((name.as_str(), view));
    }
    safetensors::serialize(views, Some(HashMap::from([("rooco".to_owned(), head)])))
        .map_err(|e| Error::Unsupported(format!("cannot write the file: {e}")))
}

fn from_bytes<A: for<'a> Deserialize<'a>>(path: &Path, kind: &str, bytes: &[u8]) -> Result<(A, State)> {
    let damaged = |e: safetensors::SafeTensorError| bad(path, format!("it is truncated, damaged or of another kind ({e})"));
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
    let head = metadata.metadata().as_ref().and_then(|m| m.get("rooco"));
    let head = head.ok_or_else(|| bad(path, "it is a safetensors file of another program".into()))?;
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let version: Version = serde_json::from_str(head).map_err(|e| bad(path, format!("its description is damaged ({e})")))?;
    if version.format != FORMAT {
        return Err(bad(
            path,
            format!(
                "it has format {}, this program reads format {FORMAT}; use the version that wrote it, or train again",
                version.format
            ),
        ));
    }
    let head: Head = serde_json::from_str(head).map_err(|e| bad(path, format!("its description is damaged ({e})")))?;
    if head.kind != kind {
        return Err(bad(path, format!("it is a {}, where a {kind} is needed", head.kind)));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
    let mut state = State::default();
    for (name, t) in tensors.iter() {
        fn numbers<const N: usize, T>(data: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
            data.as_chunks::<N>().0.iter().map(|&b| from(b)).collect()
        }
        let values = match t.dtype() {
            Dtype::F64 => Values::F64(numbers(t.data(), f64::from_le_bytes)),
            Dtype::F32 => Values::F32(numbers(t.data(), f32::from_le_bytes)),
            Dtype::U64 => Values::U64(numbers(t.data(), u64::from_le_bytes)),
            Dtype::U32 => Values::U32(numbers(t.data(), u32::from_le_bytes)),
            Dtype::U8 => match std::str::from_utf8(t.data()) {
                Ok(text) => Values::Text(text.to_owned()),
                Err(_) => return Err(bad(path, format!("tensor {name} is no text"))),
            },
            other => return Err(bad(path, format!("tensor {name} has the unexpected type {other:?}"))),
        };
        state.insert(name.to_owned(), values);
    }
    if checksum(&head.about, &state) != head.checksum {
        return Err(bad(path, "its checksum does not match: the file was changed or damaged after it was written".into()));
    }
    let about = serde_json::from_value(head.about).map_err(|e| bad(path, format!("its description is damaged ({e})")))?;
    Ok((about, state))
}

/// CRC-32 of the description and of every tensor, in the order of their names.
fn checksum(about: &serde_json::Value, state: &State) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(about.to_string().as_bytes());
    for (name, values) in state.iter() {
        crc.update(name.as_bytes());
        match values {
            Values::F64(v) => v.iter().for_each(|v| crc.update(&v.to_le_bytes())),
            Values::F32(v) => v.iter().for_each(|v| crc.update(&v.to_le_bytes())),
            Values::U64(v) => v.iter().for_each(|v| crc.update(&v.to_le_bytes())),
            Values::U32(v) => v.iter().for_each(|v| crc.update(&v.to_le_bytes())),
            Values::Text(v) => crc.update(v.as_bytes()),
        }
    }
    crc.finalize()
}

/// Writes a file beside its place, syncs it and renames it: whoever reads sees the old file or the new one, never half of it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let io = |source| Error::Io { file: path.into(), source };
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = (|| {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // The error of the write is what the user needs; a leftover is removed if that is possible.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(io)
}
