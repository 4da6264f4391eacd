//! The program, run as a user runs it.

mod audit;
mod bad_input;
mod common;
mod faults;
mod fit_predict_eval_show;
mod fit_shuffle;
mod guarantee;
mod kill_and_resume;
mod lab;
mod namespaces;
mod nothing_lost;
mod nothing_trusted;
mod optimum;
mod real_tables;
mod report;
mod shapes;
mod shell;
mod shuffle;
mod trace_agrees_with_the_pseudo_code;
mod what_is_printed;
mod wide_parquet;
