//! What holds for given data: constants, certificates, the order test.

mod audit_constants;
mod certified_after_the_run;
mod curvature;
mod order_detection;
mod order_false_alarms;
mod order_of_real_files;
mod order_resume;
