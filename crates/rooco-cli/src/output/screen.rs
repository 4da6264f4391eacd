//! Text for the screen. Names of columns and values come from files, and what a terminal takes for a command must not reach it from there.

use std::borrow::Cow;
use std::io::{self, StdoutLock, Write};

/// The text with control characters written out (`\u{1b}`); lines and tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(harmless) {
        return text.into();
    }
    text.chars()
        .fold(String::new(), |mut done, c| {
            if harmless(c) {
                done.push(c)
            } else {
                done.extend(c.escape_unicode())
            }
            done
        })
        .into()
}

/// Standard output for text that people read.
pub struct Screen(StdoutLock<'static>);

impl Screen {
    /// Locked until it is dropped.
    pub fn new() -> Self {
        Screen(io::stdout().lock())
    }
}

impl Write for Screen {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.write_all(clean(&String::from_utf8_lossy(buf)).as_bytes())?;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn only_what_is_printed_passes() {
        assert_eq!(clean("größe\t1\n"), "größe\t1\n");
        assert_eq!(clean("\u{1b}[31mred\u{9b}\u{7f}\r"), "\\u{1b}[31mred\\u{9b}\\u{7f}\\u{d}");
    }
}
