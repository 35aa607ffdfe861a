//! Errors of use cases in the words of the command line: code, hint and exit code of each variant.

mod agent;
