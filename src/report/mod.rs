//! What a person or a script reads. One model, one file per output format.

pub mod model;
