//! What the checker asks of the room that knows the facts.

use super::types::{ScopeId, Slot, Type};
use super::value::Value;

/// A function another room supplies.
#[derive(Debug, Clone)]
pub struct Function {
    /// The name it is called by.
    pub name: &'static str,
    /// One type for each argument.
    pub params: Vec<Type>,
    /// What it yields.
    pub result: Type,
    /// Its body, called with known values of the declared types; `None` is unknown.
    pub apply: fn(&[Value]) -> Option<Value>,
}

/// Scopes, facts and functions an expression may name.
pub trait Vocabulary {
    /// The scope of that name.
    fn scope(&self, name: &str) -> Option<ScopeId>;
    /// The name of a scope.
    fn scope_name(&self, scope: ScopeId) -> &str;
    /// The fact at a dotted path of a scope.
    fn fact(&self, scope: ScopeId, path: &str) -> Option<(Slot, Type)>;
    /// Every path of a scope, for suggestions.
    fn paths(&self, scope: ScopeId) -> Vec<String>;
    /// The function of that name.
    fn function(&self, name: &str) -> Option<&Function>;
    /// Every function, for suggestions.
    fn function_names(&self) -> Vec<&'static str>;
}
