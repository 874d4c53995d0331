//! The JSON Schemas of what the program writes: every record that a test reads is held against them, so that a field that
//! nobody has described fails wherever it is first written.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// A schema of the folder `schemas`, and what checks with it.
pub(crate) struct Schema {
    pub(crate) json: Value,
    validator: Validator,
}

macro_rules! schema {
    ($file:literal) => {
        LazyLock::new(|| {
            let text = include_str!(concat!("../../schemas/", $file));
            let json: Value = serde_json::from_str(text).expect($file);
            jsonschema::draft7::meta::validate(&json).expect($file);
            let validator = jsonschema::draft7::new(&json).expect($file);
            Schema { json, validator }
        })
    };
}

pub(crate) static RECORD: LazyLock<Schema> = schema!("record.schema.json");
pub(crate) static PLAN: LazyLock<Schema> = schema!("plan.schema.json");
pub(crate) static PUZZLE: LazyLock<Schema> = schema!("puzzle.schema.json");
pub(crate) static TOURNAMENT: LazyLock<Schema> = schema!("tournament.schema.json");
pub(crate) static COMPARISON: LazyLock<Schema> = schema!("comparison.schema.json");
pub(crate) static RERUN: LazyLock<Schema> = schema!("rerun.schema.json");

impl Schema {
    /// What is wrong with a value, a line each.
    pub(crate) fn errors(&self, value: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(value);
        errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    /// Panics with all that is wrong with a value.
    #[track_caller]
    pub(crate) fn check(&self, value: &Value) {
        let errors = self.errors(value);
        assert!(errors.is_empty(), "{}\n{value}", errors.join("\n"));
    }
}
