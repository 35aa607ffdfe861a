//! Vectors that come with the sources, converted from a runtime's form to the index's.

use anemone_embed::ModelIdentity;
use anemone_index::{CarriedVector, SourceError};
use anemone_runtimes::{FoundAgent, Machine, Runtime, VectorOf, WantedModel};

/// Names a model as runtimes do. No runtime says which server made its vectors, so the server, if
/// our name for the model has one, is left out.
pub(super) fn wanted_model(identity: &ModelIdentity) -> WantedModel<'_> {
    WantedModel {
        provider: &identity.provider,
        model: identity.bare_model(),
        dimensions: identity.dimensions,
    }
}

/// Takes a vector as the index does.
pub(super) fn carried(of: VectorOf<'_>, vector: Vec<f32>) -> CarriedVector {
    match of {
        VectorOf::Text(text) => CarriedVector::of(text, vector),
        VectorOf::Digest(sha256) => CarriedVector::of_digest(sha256, vector),
    }
}

/// Hands out the vectors that a runtime made of an agent's memories.
pub(super) fn of_agent(
    runtime: &Runtime,
    machine: &Machine,
    agent: &FoundAgent,
    private: bool,
    identity: &ModelIdentity,
    each: &mut dyn FnMut(CarriedVector),
) -> Result<(), SourceError> {
    let wanted = wanted_model(identity);
    let mut take = |of: VectorOf<'_>, vector| each(carried(of, vector));
    runtime.read_vectors(machine, agent, &wanted, private, &mut take).map_err(|error| {
        let place = agent.database.as_deref().unwrap_or(&agent.workspace);
        SourceError { place: place.display().to_string(), source: Box::new(error) }
    })
}
