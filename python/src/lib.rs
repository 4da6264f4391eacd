//! `rooco._rooco`: the library for Python. The estimators are Python (`rooco/`); this module is what they stand on.
//!
//! ```text
//! numpy, CSR, Arrow, files ──> Rows ──> Learner (fit::Session) ──> Model
//! ```
//!
//! Passes run without the GIL and look for Ctrl-C every few thousand rows. Numbers are those of the command line, bit for bit: it is the
//! same code, fed with the same rows.

use pyo3::prelude::*;

mod audit;
mod capsule;
mod error;
mod judge;
mod learner;
mod matrix;
mod model;
mod options;
mod own_loss;
mod parts;
mod pca;
mod rows;
mod say;
mod tools;
mod turn;

/// The compiled half of rooco.
#[pymodule]
mod _rooco {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::audit::{audit, certify};
    #[pymodule_export]
    use super::judge::judge;
    #[pymodule_export]
    use super::learner::Learner;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::own_loss::own_loss;
    #[pymodule_export]
    use super::parts::{
        Certificate, add_sums, average_models, join_audits, join_schemas, lab_append, lab_group, lab_groups, merge_models,
        optimum_of_parts, order_of, part_audit, part_certificate, part_look, part_order, part_product, part_schema, part_sums,
        workers_bound,
    };
    #[pymodule_export]
    use super::pca::shift_invert_pca;
    #[pymodule_export]
    use super::rows::Rows;
    #[pymodule_export]
    use super::tools::{lab_list, lab_paper, lab_run, shuffle};

    /// A number in the spelling that class names have in model files.
    #[pyfunction]
    fn number_name(value: f64) -> String {
        if value == 0.0 { "0".into() } else { value.to_string() }
    }

    /// The registry of algorithms, as JSON.
    #[pyfunction]
    fn algorithms() -> String {
        let all: Vec<_> = rooco::algorithm::Algorithm::all()
            .map(|a| {
                serde_json::json!({"name": a.name, "paper": a.paper, "aliases": a.aliases, "about": a.about, "theorem": a.theorem,
                    "needs_horizon": a.needs.horizon, "needs_lambda": a.needs.lambda, "keeps_rows": a.needs.rows})
            })
            .collect();
        serde_json::Value::from(all).to_string()
    }

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
