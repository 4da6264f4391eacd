//! The paper and what goes beyond it, statement by statement: exact enumeration for tiny T.

mod bounds_of_the_model;
mod docs_name_real_files;
mod enumeration;
mod exact_expected_regret;
mod guarantees_by_enumeration;
mod insurance_holds_for_every_order;
mod lemma_sampling_is_iid;
mod lemma_stability_equals_generalisation;
mod lemmas_of_the_paper;
mod measured_equals_enumerated;
mod the_gap_in_the_printed_proof;
mod theorem_6_needs_the_positive_part;
