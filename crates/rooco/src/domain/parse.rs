//! A domain written as text, for command lines and files: `ball:2`, `box:-1,1`.

use super::{Ball, Cuboid, Domain, L1Ball, Simplex, WholeSpace};
use crate::error::{Error, Result};

/// What [`parse`] understands, for messages and help texts.
pub const FORMS: &str = "none, ball:R, box:LO,HI, simplex, l1:R";

/// The domain that a text names: `none`, `ball:R`, `box:LO,HI` (the same interval for every coordinate; `inf` and `-inf` are
/// allowed), `simplex`, `l1:R`. `dim` is the number of coordinates of w, `None` if it is not known yet; only the simplex and a
/// box that leaves out zero need it.
///
/// ```
/// let w = rooco::domain::parse("box:-1,1", 4)?;
/// assert_eq!(w.diameter(), 4.0);
/// assert!(rooco::domain::parse("cube:1", None).is_err());
/// # Ok::<(), rooco::Error>(())
/// ```
pub fn parse(text: &str, dim: impl Into<Option<usize>>) -> Result<Box<dyn Domain>> {
    let dim = dim.into();
    let (kind, rest) = match text.trim().split_once(':') {
        Some((kind, rest)) => (kind.trim(), Some(rest)),
        None => (text.trim(), None),
    };
    let numbers = |n: usize| -> Result<Vec<f64>> {
        let given: Vec<&str> = rest.map_or(vec![], |r| r.split(',').collect());
        let read: Vec<f64> = given.iter().filter_map(|v| v.trim().parse().ok()).collect();
        if read.len() == n && given.len() == n {
            return Ok(read);
        }
        Err(Error::Option(format!(
            "the domain `{text}` needs {n} number{} after `{kind}:`; write one of {FORMS}",
            if n == 1 { "" } else { "s" }
        )))
    };
    Ok(match (kind, rest) {
        ("none", None) => Box::new(WholeSpace),
        ("ball", _) => Box::new(Ball::new(numbers(1)?[0])?),
        ("l1", _) => Box::new(L1Ball::new(numbers(1)?[0])?),
        ("box", _) => {
            let ends = numbers(2)?;
            Box::new(match dim {
                Some(dim) => Cuboid::in_dimension(dim, ends[0], ends[1])?,
                None => Cuboid::uniform(ends[0], ends[1])?,
            })
        }
        ("simplex", None) => match dim {
            Some(dim) => Box::new(Simplex::new(dim)?),
            None => return Err(Error::Option("the simplex needs the number of features; say it, or choose l1:1".into())),
        },
        _ => return Err(Error::Option(format!("there is no domain `{text}`; write one of {FORMS}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_what_is_wrong_with_them() {
        for (text, diameter) in [("none", f64::INFINITY), ("ball:2", 4.0), (" box:-1, 1 ", 2.0 * 3f64.sqrt()), ("l1:0.5", 1.0)] {
            assert_eq!(parse(text, 3).unwrap().diameter(), diameter, "{text}");
        }
        assert_eq!(parse("simplex", 3).unwrap().dim(), Some(3));
        assert_eq!(parse("box:0,inf", None).unwrap().dim(), None);
        let message = |text: &str| parse(text, 3).err().unwrap().to_string();
        for text in ["", "sphere", "ball:1,2", "ball", "ball:x", "box:1", "box:", "none:3", "simplex:1"] {
            assert!(message(text).contains(FORMS), "{text}: {}", message(text));
        }
        assert!(message("ball:-1").contains("positive"));
        assert!(message("ball:nan").contains("positive"));
        assert!(message("box:2,1").contains("lower end"));
        assert!(parse("simplex", None).is_err() && parse("box:1,2", None).is_err());
    }
}
