//! Files in and out: every format, every malformed line, the shuffle.

mod changed_while_read;
mod shuffle_files;
mod shuffle_is_uniform;
mod shuffle_parquet;
mod shuffle_rows;
mod stream_errors;
mod stream_properties;
mod streams_agree;
