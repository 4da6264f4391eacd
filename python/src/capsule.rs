//! Arrow data of other libraries, through the Arrow C stream interface (`__arrow_c_stream__`).
//!
//! `unsafe` is needed to take the stream out of its capsule: the interface is a C struct behind a pointer.
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rooco_data::stream::{self, Batches, Stream};

use crate::error::{raised, value_error};

const NAME: &CStr = c"arrow_array_stream";

/// The rows of an object with `__arrow_c_stream__`, batch by batch as its owner makes them.
pub fn open(object: &Bound<'_, PyAny>, options: &stream::ReadOptions) -> PyResult<Box<dyn Stream>> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid ArrowArrayStream. `from_raw` moves it out and leaves a released one behind, which the
    // capsule's destructor then leaves alone, as the interface asks.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) };
    let reader = reader.map_err(|e| value_error(format!("the Arrow stream cannot be read: {e}")))?;
    let schema = reader.schema();
    let batches: Batches = Box::new(reader);
    // Its first batch may be made by Python code on another thread.
    let name = object.get_type().name()?.to_string();
    let options = options.clone();
    object.py().detach(move || stream::from_batches(&name, schema, batches, &options)).map_err(raised)
}
