//! A memory that keeps nothing, for an agent that is told to keep nothing.

use async_trait::async_trait;

use crate::entry::{Category, MemoryEntry};
use crate::memory::{Memory, MemoryError};

/// Takes everything and remembers none of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

#[async_trait]
impl Memory for NoMemory {
    fn name(&self) -> &'static str {
        "none"
    }

    async fn store(
        &self,
        _: &str,
        _: &str,
        _: &Category,
        _: Option<&str>,
    ) -> Result<(), MemoryError> {
        Ok(())
    }

    async fn recall(
        &self,
        _: &str,
        _: usize,
        _: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        Ok(Vec::new())
    }

    async fn get(&self, _: &str) -> Result<Option<MemoryEntry>, MemoryError> {
        Ok(None)
    }

    async fn list(
        &self,
        _: Option<&Category>,
        _: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        Ok(Vec::new())
    }

    async fn forget(&self, _: &str) -> Result<bool, MemoryError> {
        Ok(false)
    }

    async fn count(&self) -> Result<usize, MemoryError> {
        Ok(0)
    }

    async fn health(&self) -> bool {
        true
    }
}
