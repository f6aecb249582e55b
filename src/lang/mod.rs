//! The expression language of the rules; it knows nothing of networks.
