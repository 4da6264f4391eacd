//! Every file goes through the door of `crates/rooco/src/disk/`: otherwise no test can let it fail.

use super::root;
use super::supply::sources;

/// What only looks at names and sizes, says how a file is to be opened, or removes a folder that is empty.
const HARMLESS: &[&str] = &[
    "OpenOptions",
    "TryLockError",
    "Permissions",
    "Metadata",
    "metadata(",
    "read_dir(",
    "DirEntry",
    "remove_dir(",
    "canonicalize(",
];
/// (file, what, why it may).
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("crates/rooco-cli/src/command/", "\"/proc/meminfo\"", "is no file; where it is missing, there is a default")];

#[test]
fn every_file_goes_through_one_door() {
    let mut files = Vec::new();
    for folder in ["crates/rooco", "crates/rooco-data", "crates/rooco-pass", "crates/rooco-lab", "crates/rooco-cli", "python"] {
        sources(&root().join(folder).join("src"), &mut files);
    }
    let (mut past, mut through) = (Vec::new(), 0);
    for path in files.into_iter().filter(|p| !p.starts_with(root().join("crates/rooco/src/disk"))) {
        let source = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (k, line) in code.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            through += usize::from(line.contains("disk::") || line.contains("File::open("));
            let opens = line.contains("std::fs") || (line.contains("tempfile::") && !line.contains("File::unnamed("));
            let excepted = EXCEPTIONS.iter().any(|(file, what, _)| name.starts_with(file) && line.contains(what));
            if opens && !excepted && !HARMLESS.iter().any(|word| line.contains(word)) {
                past.push(format!("{name}:{}: {}", k + 1, line.trim()));
            }
        }
    }
    assert!(past.is_empty(), "past the door (use rooco::disk):\n{}", past.join("\n"));
    assert!(through > 20, "{through}: the words of this test are out of date");
}
