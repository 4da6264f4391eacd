//! Outputs: looked at before the work, written beside their place, put there when they are whole.

use std::ffi::OsString;
use std::fs::{Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::file::{self, File};
use super::left;
use crate::error::{Error, Result};

/// Where an output goes.
///
/// A link is followed, and what it points to is replaced. A pipe or a device is written to as it is. A file is replaced at once, when the new one is whole
/// and on the disk, and keeps its permissions.
#[derive(Debug)]
pub struct Place {
    given: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Standard output by one of its names.
    Stdout,
    /// A pipe or a device.
    Straight,
    /// A file, where the links end.
    File(PathBuf),
}

/// More links than this are a circle.
const LINKS: usize = 40;

impl Place {
    /// Looks whether an output can go there: its folder exists and can be written to, and what is there now is no directory and may be replaced. Removes
    /// what killed runs have left beside it.
    pub fn look(path: &Path) -> Result<Place> {
        let kind = Kind::of(path).map_err(|source| Error::Io { file: path.into(), source })?;
        let place = Place { given: path.into(), kind };
        if let Kind::File(target) = &place.kind {
            remove_drafts(target);
            // Whether a file can be made there is known once one was.
            place.create()?;
        }
        Ok(place)
    }

    /// Where it goes, as it was given.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// The folder of a file that would be replaced.
    pub fn folder(&self) -> Option<&Path> {
        match &self.kind {
            Kind::File(target) => Some(folder(target)),
            Kind::Stdout | Kind::Straight => None,
        }
    }

    /// True if this is a file that would be replaced, and `other` is the same file.
    pub fn is(&self, other: &Path) -> bool {
        matches!(&self.kind, Kind::File(target) if same_file(target, other))
    }

    /// True if both are the same file, or will be.
    pub fn is_also(&self, other: &Place) -> bool {
        let (Kind::File(a), Kind::File(b)) = (&self.kind, &other.kind) else { return false };
        let whole = |p: &Path| std::fs::canonicalize(folder(p)).ok().map(|f| f.join(p.file_name().unwrap_or_default()));
        same_file(a, b) || whole(a).is_some_and(|a| whole(b) == Some(a))
    }

    /// Begins to write. What is there stays until [`Draft::keep`].
    pub fn create(&self) -> Result<Draft> {
        let io = |source| Error::Io { file: self.given.clone(), source };
        let out = match &self.kind {
            Kind::Stdout => Out::Stdout(io::stdout()),
            Kind::Straight => Out::Straight(File::with(OpenOptions::new().write(true), &self.given).map_err(io)?),
            Kind::File(target) => {
                let (path, file) = beside(target).map_err(io)?;
                Out::Beside { file, path, target: target.clone() }
            }
        };
        Ok(Draft { given: self.given.clone(), out, kept: false })
    }

    /// Writes it whole.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut draft = self.create()?;
        draft.write_all(bytes).map_err(|source| Error::Io { file: self.given.clone(), source })?;
        draft.keep()
    }

    /// Puts a file that was written elsewhere into this place.
    pub fn take(&self, from: &Path) -> Result<()> {
        let io = |source| Error::Io { file: self.given.clone(), source };
        if let Kind::File(target) = &self.kind {
            let moved = File::open(from).and_then(|f| finish(&f, from, target));
            match moved {
                Err(e) if e.kind() == ErrorKind::CrossesDevices => {}
                done => return done.map_err(io),
            }
        }
        let mut draft = self.create()?;
        let mut file = File::open(from).map_err(|source| Error::Io { file: from.into(), source })?;
        io::copy(&mut file, &mut draft).map_err(io)?;
        draft.keep()?;
        file::remove(from).map_err(io)
    }
}

/// Writes a file whole, or leaves what was there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Place::look(path)?.write(bytes)
}

impl Kind {
    fn of(path: &Path) -> io::Result<Kind> {
        if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|p| path == Path::new(p)) {
            return Ok(Kind::Stdout);
        }
        if path == Path::new("-") {
            let text = "would be a file of this name; for standard output write /dev/stdout, for the file ./-";
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        let mut target = path.to_path_buf();
        for _ in 0..LINKS {
            let Ok(to) = std::fs::read_link(&target) else { return Self::of_target(target) };
            target = folder(&target).join(to);
        }
        Err(io::Error::new(ErrorKind::InvalidInput, "its links go in a circle"))
    }

    fn of_target(target: PathBuf) -> io::Result<Kind> {
        match std::fs::metadata(&target) {
            Ok(m) if m.is_dir() => Err(io::Error::new(ErrorKind::IsADirectory, "is a directory; name a file in it")),
            Ok(m) if !m.is_file() => Ok(Kind::Straight),
            Ok(m) if m.permissions().readonly() => {
                Err(io::Error::new(ErrorKind::PermissionDenied, "is protected against writing; allow it, or name another file"))
            }
            Ok(_) => Ok(Kind::File(target)),
            Err(e) if e.kind() == ErrorKind::NotFound && target.file_name().is_some() => {
                let folder = folder(&target);
                if !folder.is_dir() {
                    let text = format!("there is no folder `{}`; create it first", folder.display());
                    return Err(io::Error::new(ErrorKind::NotFound, text));
                }
                Ok(Kind::File(target))
            }
            Err(e) => Err(e),
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name of a draft before and after its mark.
fn around(target: &Path) -> (String, &'static str) {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // Names have 255 bytes at most.
    let short: String = name.chars().take(40).collect();
    (format!(".{short}."), ".part")
}

/// A new file beside the target that nobody else may read if nobody else may read the target.
fn beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let (before, after) = around(target);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(mode) = std::fs::metadata(target).ok().map(|m| std::os::unix::fs::PermissionsExt::mode(&m.permissions())) {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode & 0o777);
    }
    let path = folder(target).join(format!("{before}{}{after}", left::mark()));
    let file = File::with(&options, &path)?;
    // So that another run can tell a draft from what is left of one. Where there are no locks, nobody removes it.
    let _ = file.try_lock();
    Ok((path, file))
}

/// Removes drafts of this file whose writers have ended.
pub fn remove_drafts(target: &Path) {
    let (before, after) = around(target);
    let Ok(entries) = std::fs::read_dir(folder(target)) else { return };
    for entry in entries.flatten() {
        let name: OsString = entry.file_name();
        let process = name.to_str().and_then(|n| n.strip_prefix(before.as_str())?.strip_suffix(after)).and_then(left::process_of);
        let over = process.is_some_and(left::is_over);
        if over && std::fs::File::open(entry.path()).is_ok_and(|f| f.try_lock().is_ok()) {
            let _ = file::remove(&entry.path());
        }
    }
}

/// The old file's permissions, the content to the disk, and then the name.
fn finish(file: &File, path: &Path, target: &Path) -> io::Result<()> {
    if let Ok(old) = std::fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    file::rename(path, target)
}

/// An output while it is written. What was there before stays unless it is kept.
#[derive(Debug)]
pub struct Draft {
    given: PathBuf,
    out: Out,
    kept: bool,
}

#[derive(Debug)]
enum Out {
    Stdout(io::Stdout),
    Straight(File),
    Beside { file: File, path: PathBuf, target: PathBuf },
}

impl Draft {
    /// Goes on with a file that [`settle`](Self::settle) has put in its place, after its first bytes.
    pub fn go_on(path: &Path, bytes: u64) -> Result<Draft> {
        let opened = File::with(OpenOptions::new().write(true), path).and_then(|mut file| {
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        });
        let file = opened.map_err(|source| Error::Io { file: path.into(), source })?;
        let out = Out::Beside { file, path: path.into(), target: path.into() };
        Ok(Draft { given: path.into(), out, kept: true })
    }

    /// Puts what there is in its place, and goes on writing there: for outputs that someone else needs to be there in part.
    pub fn settle(&mut self) -> Result<()> {
        let done = match &mut self.out {
            Out::Stdout(out) => out.flush(),
            Out::Straight(file) => file.flush(),
            Out::Beside { file, .. } if self.kept => file.sync_data(),
            Out::Beside { file, path, target } => finish(file, path, target),
        };
        // After a rename there is nothing left to remove; if it failed, there is.
        self.kept |= done.is_ok();
        done.map_err(|source| Error::Io { file: self.given.clone(), source })
    }

    /// Puts it in its place.
    pub fn keep(mut self) -> Result<()> {
        self.settle()
    }
}

impl Write for Draft {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Out::Stdout(out) => out.write(buf),
            Out::Straight(file) | Out::Beside { file, .. } => file.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Out::Stdout(out) => out.flush(),
            Out::Straight(file) | Out::Beside { file, .. } => file.flush(),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let (Out::Beside { path, .. }, false) = (&self.out, self.kept) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// True if both names lead to the same file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    let (Ok(x), Ok(y)) = (std::fs::metadata(a), std::fs::metadata(b)) else { return false };
    same(&x, &y, a, b)
}

#[cfg(unix)]
fn same(x: &Metadata, y: &Metadata, _: &Path, _: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    (x.dev(), x.ino()) == (y.dev(), y.ino())
}

#[cfg(not(unix))]
fn same(_: &Metadata, _: &Metadata, a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        let path = std::env::temp_dir().join(left::mark());
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn names(d: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(d).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_output_appears_when_it_is_whole() {
        let d = folder();
        let path = d.join("out");
        std::fs::write(&path, "old").unwrap();
        let place = Place::look(&path).unwrap();
        let mut draft = place.create().unwrap();
        draft.write_all(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(draft);
        assert_eq!((std::fs::read(&path).unwrap(), names(&d)), (b"old".to_vec(), vec!["out".to_owned()]));
        place.write(b"new").unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), names(&d)), (b"new".to_vec(), vec!["out".to_owned()]));
        assert!(Place::look(&d).unwrap_err().to_string().contains("is a directory"));
        assert!(Place::look(&d.join("no").join("out")).unwrap_err().to_string().contains("there is no folder"));
        std::fs::remove_dir_all(d).unwrap();
    }

    /// Links are followed, also those that point to nothing yet; permissions stay; a protected file is not replaced.
    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let d = folder();
        std::fs::write(d.join("real"), "old").unwrap();
        std::fs::set_permissions(d.join("real"), std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink("real", d.join("link")).unwrap();
        symlink("later", d.join("dangling")).unwrap();
        write(&d.join("link"), b"new").unwrap();
        write(&d.join("dangling"), b"new").unwrap();
        for name in ["link", "dangling"] {
            assert!(std::fs::symlink_metadata(d.join(name)).unwrap().is_symlink(), "{name}");
        }
        assert_eq!(std::fs::read(d.join("real")).unwrap(), b"new");
        assert_eq!(std::fs::read(d.join("later")).unwrap(), b"new");
        assert_eq!(std::fs::metadata(d.join("real")).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(d.join("real"), std::fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Place::look(&d.join("real")).unwrap_err().to_string().contains("protected"));
        symlink("b", d.join("a")).unwrap();
        symlink("a", d.join("b")).unwrap();
        assert!(Place::look(&d.join("a")).unwrap_err().to_string().contains("circle"));
        std::fs::remove_dir_all(d).unwrap();
    }

    /// The draft of a run that was killed is removed by the next one, that of a run that lives is not.
    #[cfg(target_os = "linux")]
    #[test]
    fn left_overs_are_removed() {
        let d = folder();
        let path = d.join("out");
        // No process has this number: it is beyond the largest.
        std::fs::write(d.join(".out.rooco-4194999-0123456789abcdef.part"), "half").unwrap();
        std::fs::write(d.join(".out.rooco-4194999-mine.part"), "of a user").unwrap();
        let place = Place::look(&path).unwrap();
        let living = place.create().unwrap();
        Place::look(&path).unwrap();
        assert_eq!(names(&d).len(), 2, "{:?}", names(&d));
        drop(living);
        assert_eq!(names(&d), [".out.rooco-4194999-mine.part"]);
        std::fs::remove_dir_all(d).unwrap();
    }
}
