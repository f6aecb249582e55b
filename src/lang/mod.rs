//! The expression language of the rules; it knows nothing of networks.
//!
//! [`check`] turns a text into a [`Program`] against a [`Vocabulary`]; the program is evaluated against a [`World`] in
//! three-valued logic. A later room supplies both.

mod ast;
mod check;
mod diagnostic;
mod eval;
mod explain;
mod lex;
mod mutate;
mod parse;
mod program;
mod resolve;
mod suggest;
#[cfg(test)]
mod testing;
mod types;
mod unit;
mod value;
mod vocabulary;

pub use check::{Allow, Context, check};
pub use diagnostic::Diagnostic;
pub use eval::{Evaluation, State, World};
pub use explain::Term;
pub use mutate::{Mutant, mutants};
pub use program::Program;
pub use suggest::closest;
pub use types::{Dim, Entity, Key, Quantity, ScopeId, Slot, Type, Words};
pub use value::{Value, Version};
pub use vocabulary::{Function, Vocabulary};
