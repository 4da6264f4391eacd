//! Experiments, comparators and the report.

mod any_file_is_a_problem;
mod convex_case_grows_like_sqrt_t;
mod every_comparator_is_a_learner;
mod every_statement_of_the_paper_holds;
mod regret_grows_like_log_t;
mod report_is_one_small_file;
mod results_do_not_depend_on_threads;
mod signed_events;
mod sorted_order_gives_linear_regret;
mod the_default_runs_beside_the_others;
mod the_study_is_reproduced;
mod theorem_regret_is_below_every_bound;
