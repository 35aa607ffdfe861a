//! `alf validate`

use std::process::ExitCode;

use anemone::validate::{ValidateRequest, validate};
use anemone_format::{Edits, Finding};
use anemone_messages::UserError;
use serde::Serialize;

use super::{AlfAnswer, ValidateArgs, print_error};
use crate::commands::Context;
use crate::output::{Result, count};

#[derive(Serialize)]
struct ValidateShape<'a> {
    ok: bool,
    valid: bool,
    errors: Vec<FindingLine<'a>>,
    warnings: Vec<FindingLine<'a>>,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    path: &'a str,
    message: &'a str,
}

pub(super) fn run(args: &ValidateArgs, context: &Context<'_>) -> Result<ExitCode> {
    // If a file cannot be read, that tool only prints the error.
    let request = ValidateRequest { file: args.file.clone(), edits: Edits::Refuse };
    let validated = validate(&request, &context.host)
        .map_err(|error| UserError { hint: None, ..error.into() })?;
    let shape = ValidateShape {
        ok: validated.valid,
        valid: validated.valid,
        errors: validated.errors.iter().map(FindingLine::new).collect(),
        warnings: validated.warnings.iter().map(FindingLine::new).collect(),
    };
    context.printer.print(&AlfAnswer { shape, ours: &validated })?;
    if validated.valid {
        return Ok(ExitCode::SUCCESS);
    }
    // That tool says it twice, and scripts may read either line.
    let errors = count(validated.errors.len() as u64, "error");
    let message = format!("{} is not valid: {errors}", args.file.display());
    let error = UserError::failure("not_valid", message)
        .hint("take another copy of the file, if there is one");
    Ok(print_error(context.printer, &error))
}

impl<'a> FindingLine<'a> {
    fn new(finding: &'a Finding) -> Self {
        Self { path: &finding.path, message: &finding.message }
    }
}
