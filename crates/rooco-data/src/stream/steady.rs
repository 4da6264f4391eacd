//! A file as long as it was when it was opened. What is appended meanwhile is not read: its last line may be half a line. A file that ends before was cut,
//! and its rows are missing.

use std::io::{self, Read};
use std::path::Path;

use rooco::disk::File;

pub(super) struct Steady {
    file: File,
    length: u64,
    read: u64,
}

impl Steady {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // Files that the system makes up while they are read say that they are empty.
        let length = Some(file.metadata()?.len()).filter(|n| *n > 0).unwrap_or(u64::MAX);
        Ok(Steady { file, length, read: 0 })
    }
}

impl Read for Steady {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = (self.length - self.read).min(buf.len() as u64) as usize;
        let n = self.file.read(&mut buf[..most])?;
        self.read += n as u64;
        if n == 0 && most > 0 && self.length < u64::MAX {
            let text = format!(
                "was cut while it was read: it had {} bytes and ends after {}; read it again when nobody writes to it",
                self.length, self.read
            );
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(n)
    }
}
