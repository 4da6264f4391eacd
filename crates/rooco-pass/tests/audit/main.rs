//! What holds for given data: constants, certificates, the order test.

mod audit_constants;
mod certificates_say_something;
mod certified_after_the_run;
mod curvature;
mod nothing_follows_from_nan;
mod order_detection;
mod order_false_alarms;
mod order_of_real_files;
mod order_resume;
mod parts_are_the_whole;
