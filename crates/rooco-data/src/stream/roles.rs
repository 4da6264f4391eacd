//! The roles of the columns of a new table: what the caller says, and what the first rows show. From here on they are a [`Schema`].

use std::collections::HashSet;
use std::path::Path;

use super::cell::Reading;
use super::date::{DatePart, DateStyle};
use super::look::{ColumnLook, Guess, Kind, Typed};
use super::names::{did_you_mean, some_names};
use super::open::{Labels, ReadOptions, Roles};
use super::schema::{Column, INTERCEPT, Missing, Names, Part, Role, Schema, Stats};
use super::target::{Probe, Target};
use rooco::{Error, Result};

/// So many missing values among the first rows give a column a feature for them; fewer teach nothing.
const GAPS: u64 = 10;

/// What is known of a column before its role is decided.
pub(crate) struct Found {
    pub name: String,
    pub look: ColumnLook,
}

/// Decides. `probe` sees the labels of the first rows, given the place of the target column.
pub(crate) fn decide(
    file: &Path,
    found: &[Found],
    header: bool,
    options: &ReadOptions,
    probe: impl FnOnce(usize, &mut Probe),
) -> Result<Schema> {
    let names = found.iter().map(|f| f.name.as_str());
    let mut seen = HashSet::new();
    for f in found {
        if !seen.insert(f.name.as_str()) {
            return Err(bad_header(file, format!("two columns are called `{}`; rename one of them", f.name)));
        }
    }
    let place = |wanted: &str| {
        let at = found.iter().position(|f| f.name == wanted);
        at.ok_or_else(|| bad_header(file, missing_column(wanted, names.clone())))
    };
    let elsewhere = options.labels == Labels::Elsewhere;
    let (target, weight) = match &options.target {
        _ if elsewhere => (usize::MAX, None),
        Some(target) => (place(target)?, options.weight.as_deref().map(place).transpose()?),
        None => {
            return Err(bad_header(
                file,
                format!("which column is the target? Name it (target = NAME); the columns are {}", some_names(names)),
            ));
        }
    };
    let wanted = Wanted::of(options, place)?;
    if weight == Some(target) || wanted.contains(target) {
        let what = format!("column `{}` is the target; it cannot have another role too", found[target].name);
        return Err(bad_header(file, what));
    }
    let mut coordinates: Vec<String> = Vec::new();
    if options.intercept {
        coordinates.push(INTERCEPT.into());
    }
    let mut columns = Vec::new();
    let mut parts = Vec::new();
    let numeric = |coordinates: &mut Vec<String>, name: &str, mean: f64| {
        coordinates.push(name.to_owned());
        let stats = Stats { mean: if options.missing == Missing::Typical { mean } else { 0.0 }, ..Stats::default() };
        Role::Numeric { coordinate: coordinates.len() as u32 - 1, stats }
    };
    for (k, f) in found.iter().enumerate() {
        if k == target || Some(k) == weight {
            let reading = match f.look.guess(&f.name).kind {
                Kind::Number(reading) if k == target => reading,
                _ => Reading::Plain,
            };
            columns.push(Column { reading, ..Column::new(&f.name, if k == target { Role::Target } else { Role::Weight }) });
            continue;
        }
        let Guess { kind, why } = wanted.guess(k, f, options.roles);
        let (role, reading) = match (kind, wanted.words(k)) {
            (Kind::Text, Some(run)) => (Role::Words { run, values: Vec::new() }, Reading::Plain),
            (Kind::Drop | Kind::Text, _) => (Role::Dropped, Reading::Plain),
            (Kind::Number(reading), _) => (numeric(&mut coordinates, &f.name, f.look.mean_as(reading)), reading),
            (Kind::Small, _) => {
                parts.push(Part { of: k, part: DatePart::Value });
                (numeric(&mut coordinates, &f.name, f.look.mean_as(Reading::Plain)), Reading::Plain)
            }
            (Kind::Categories(reading), _) => (Role::Categorical { values: Vec::new() }, reading),
            (Kind::Date(style, times), _) => {
                let all = [DatePart::Days, DatePart::Year, DatePart::Month, DatePart::Weekday, DatePart::Hour];
                parts.extend(all.into_iter().filter(|p| times || *p != DatePart::Hour).map(|part| Part { of: k, part }));
                (Role::Date { style, origin: f.look.origin() }, Reading::Plain)
            }
        };
        let odd = match role {
            Role::Date { style, .. } => f.look.dates_in(style) < f.look.present(),
            _ => f.look.odd(reading).1 > 0,
        };
        let gaps = f.look.present() < f.look.rows || odd;
        if f.look.gaps() >= GAPS
            && options.missing == Missing::Typical
            && matches!(role, Role::Numeric { .. } | Role::Date { .. })
        {
            parts.push(Part { of: k, part: DatePart::Missing });
        }
        columns.push(Column { reading, why, gaps, ..Column::new(&f.name, role) });
    }
    for part in parts {
        let (of, gaps) = (&found[part.of], columns[part.of].gaps);
        let name = format!("{}.{}", of.name, part.part.name());
        let role = match part.part {
            p if p.is_number() => numeric(&mut coordinates, &name, of.look.mean_of(p)),
            _ => Role::Categorical { values: Vec::new() },
        };
        columns.push(Column { part: Some(part), gaps, ..Column::new(name, role) });
    }
    if !columns.iter().any(|c| matches!(c.role, Role::Numeric { .. } | Role::Categorical { .. } | Role::Words { .. })) {
        let left_out: Vec<String> =
            columns.iter().filter(|c| !c.why.is_empty()).map(|c| format!("`{}` {}", c.name, c.why)).collect();
        let why = if left_out.is_empty() { String::new() } else { format!(": {}; say what it is", left_out.join("; ")) };
        return Err(bad_header(file, format!("there is no column left to learn from beside the target{why}")));
    }
    let mut labels = Probe::default();
    if elsewhere {
        columns.push(Column::new(options.target.clone().unwrap_or_else(|| "y".into()), Role::Target));
        columns.extend(options.weight.clone().map(|name| Column::new(name, Role::Weight)));
    } else {
        labels.reading = columns[target].reading;
        probe(target, &mut labels);
    }
    let target: Target = labels.decide(&options.target_kind).map_err(|what| Error::Target { file: file.into(), what })?;
    Ok(Schema {
        intercept: options.intercept,
        names: Names::Listed(coordinates),
        columns,
        header,
        target,
        missing: options.missing,
        crosses: Vec::new(),
    })
}

/// What the caller says of some columns, by their places.
struct Wanted {
    drop: Vec<usize>,
    categorical: Vec<usize>,
    numeric: Vec<usize>,
    dates: Vec<usize>,
    text: Vec<(usize, usize)>,
}

impl Wanted {
    fn of(options: &ReadOptions, place: impl Fn(&str) -> Result<usize>) -> Result<Self> {
        let all = |names: &[String]| names.iter().map(|n| place(n)).collect::<Result<Vec<_>>>();
        Ok(Wanted {
            drop: all(&options.drop)?,
            categorical: all(&options.categorical)?,
            numeric: all(&options.numeric)?,
            dates: all(&options.dates)?,
            text: options.text.iter().map(|(name, run)| Ok((place(name)?, *run))).collect::<Result<_>>()?,
        })
    }

    fn contains(&self, k: usize) -> bool {
        [&self.drop, &self.categorical, &self.numeric, &self.dates].iter().any(|all| all.contains(&k)) || self.words(k).is_some()
    }

    fn words(&self, k: usize) -> Option<usize> {
        self.text.iter().find(|(at, _)| *at == k).map(|(_, run)| *run)
    }

    fn guess(&self, k: usize, found: &Found, roles: Roles) -> Guess {
        let look = &found.look;
        let asked = |kind| Guess::new(kind, "as asked");
        if self.drop.contains(&k) {
            return asked(Kind::Drop);
        }
        if self.words(k).is_some() {
            return asked(Kind::Text);
        }
        if self.categorical.contains(&k) {
            return asked(Kind::Categories(Reading::Plain));
        }
        let guess = look.guess(&found.name);
        if self.numeric.contains(&k) {
            return asked(if matches!(guess.kind, Kind::Number(_)) { guess.kind } else { Kind::Number(look.reading()) });
        }
        if self.dates.contains(&k) {
            return asked(if matches!(guess.kind, Kind::Date(..)) { guess.kind } else { Kind::Date(DateStyle::YearFirst, true) });
        }
        match (roles, look.typed) {
            (Roles::Typed, Typed::Number) => Guess::new(Kind::Number(Reading::Plain), ""),
            (Roles::Typed, Typed::Nothing) => Guess::new(look.plain(), ""),
            _ => guess,
        }
    }
}

/// An error of the header of a file.
pub(crate) fn bad_header(file: &Path, what: String) -> Error {
    Error::Parse { file: file.to_path_buf(), line: 1, column: 0, what }
}

/// A column that is not there, and one that may be meant.
pub(crate) fn missing_column<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match did_you_mean(wanted, names.clone()) {
        Some(near) => format!("there is no column `{wanted}`; did you mean `{near}`?"),
        None => format!("there is no column `{wanted}`; the columns are {}", some_names(names)),
    }
}
