//! A file of the system behind the gate.

use std::fs::{Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::fault::{Operation, gate};

/// A file. What it does is what [`std::fs::File`] does.
#[derive(Debug)]
pub struct File(std::fs::File);

impl File {
    /// Opens a file as the options say.
    pub fn with(options: &OpenOptions, path: &Path) -> io::Result<Self> {
        gate(Operation::Open)?;
        options.open(path).map(File)
    }

    /// Opens a file to read it.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::with(OpenOptions::new().read(true), path)
    }

    /// Creates a file that is not there yet.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        File::with(OpenOptions::new().write(true).create_new(true), path)
    }

    /// A file that has no name, made by the caller, and ends with the program.
    pub fn unnamed(make: impl FnOnce() -> io::Result<std::fs::File>) -> io::Result<Self> {
        gate(Operation::Open)?;
        make().map(File)
    }

    /// What the system knows of it.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Brings content and length to the disk.
    pub fn sync_all(&self) -> io::Result<()> {
        gate(Operation::Sync)?;
        self.0.sync_all()
    }

    /// Brings the content to the disk.
    pub fn sync_data(&self) -> io::Result<()> {
        gate(Operation::Sync)?;
        self.0.sync_data()
    }

    /// Cuts the file off, or lengthens it with zeros.
    pub fn set_len(&self, length: u64) -> io::Result<()> {
        gate(Operation::Write)?;
        self.0.set_len(length)
    }

    /// Who may read and write it.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        gate(Operation::Other)?;
        self.0.set_permissions(permissions)
    }

    /// Locks it against other processes, if none has it.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.0.try_lock()
    }

    /// The same file once more.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(File)
    }
}

impl Read for File {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        gate(Operation::Read)?;
        self.0.read(buf)
    }
}

impl Write for File {
    /// A write that is made to fail gets half of its bytes to the disk first, as a disk does that runs full.
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if let Err(e) = gate(Operation::Write) {
            let _ = self.0.write_all(&buf[..buf.len() / 2]);
            return Err(e);
        }
        self.0.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.0.seek(pos)
    }
}

/// What does not say how long it is (a pipe, a device) is read as far as this.
const LONGEST: u64 = 1 << 30;

/// The whole content of a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    let length = file.metadata().ok().filter(|m| m.is_file() && m.len() > 0).map(|m| m.len());
    // A file that grows meanwhile is read whole, too.
    let most = length.unwrap_or(0).saturating_add(LONGEST);
    file.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "has no end within a gigabyte, and would have to be read whole; name another file",
        ));
    }
    Ok(bytes)
}

/// The whole content of a file of text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "is no text (its bytes are not UTF-8); is it the right file?");
    String::from_utf8(read(path)?).map_err(no_text)
}

/// Renames a file, and brings the new name to the disk.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    gate(Operation::Rename)?;
    std::fs::rename(from, to)?;
    sync_folder(to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Removes a file.
pub fn remove(path: &Path) -> io::Result<()> {
    gate(Operation::Remove)?;
    std::fs::remove_file(path)
}

/// Creates a folder and those above it.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    gate(Operation::Other)?;
    std::fs::create_dir_all(path)
}

/// Creates a folder that only its user may look into, and those above it.
pub fn create_private_dir_all(path: &Path) -> io::Result<()> {
    gate(Operation::Other)?;
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Brings the names in a folder to the disk: a name is there when its folder is. Systems that cannot do this have no way to be asked.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    gate(Operation::Sync)?;
    match std::fs::File::open(folder).and_then(|f| f.sync_all()) {
        Err(e)
            if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) =>
        {
            Ok(())
        }
        done => done,
    }
}
