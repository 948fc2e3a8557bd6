//! Semantic versions and ranges, exactly as npm reads them.
