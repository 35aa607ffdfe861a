//! Where an agent moves from, and where to.

use std::path::PathBuf;

use anemone_runtimes::{FoundAgent, Machine};

use super::{MigrateError, MigrateRequest, Result, real};
use crate::agent::{
    ChosenAgent, DiscoveryDepth, aliases, check_alias, check_folder, check_known, check_name,
    check_runtime, find, only, runtime_named,
};
use crate::host::Host;

/// Returns the agent that moves.
pub(super) fn choose_source(request: &MigrateRequest, machine: &Machine) -> Result<ChosenAgent> {
    let runtime = runtime_named(&request.from.runtime)?;
    let alias = request.agent.as_deref();
    let chosen = match (&request.from.folder, alias) {
        (Some(folder), _) => {
            check_folder(folder)?;
            let chosen = ChosenAgent { runtime, agent: runtime.locate(machine, folder, alias) };
            check_runtime(&chosen, machine, folder)?;
            chosen
        }
        (None, Some(alias)) => {
            return Ok(find(&[runtime], machine, alias, DiscoveryDepth::Everything)?);
        }
        (None, None) => {
            only(&[runtime], machine, DiscoveryDepth::Everything).map_err(|source| {
                let runtime = request.from.runtime.clone();
                MigrateError::Source { runtime, source }
            })?
        }
    };
    check_alias(&chosen.agent, alias)?;
    check_known(&chosen.agent)?;
    Ok(chosen)
}

/// Returns where it goes; nothing may be there yet.
pub(super) fn choose_target(request: &MigrateRequest, machine: &Machine) -> Result<ChosenAgent> {
    let runtime = runtime_named(&request.to.runtime)?;
    let alias = request.to_agent.as_deref();
    alias.map(check_name).transpose()?;
    if let Some(folder) = &request.to.folder {
        let chosen = ChosenAgent { runtime, agent: runtime.locate(machine, folder, alias) };
        check_alias(&chosen.agent, alias)?;
        check_runtime(&chosen, machine, folder)?;
        return Ok(chosen);
    }
    let found = runtime.discover(machine);
    let names = aliases(&found);
    if let Some(alias) = alias {
        if let Some(at) = names.iter().position(|name| name == alias) {
            return Ok(ChosenAgent { runtime, agent: found[at].clone() });
        }
        let folder = found.first().and_then(|first| first.install.clone());
        let folder = folder.unwrap_or_else(|| runtime.first_place(machine));
        let agent = runtime.locate(machine, &folder, Some(alias));
        check_alias(&agent, Some(alias))?;
        return Ok(ChosenAgent { runtime, agent });
    }
    match &found[..] {
        [] => {
            let folder = runtime.first_place(machine);
            Ok(ChosenAgent { runtime, agent: runtime.locate(machine, &folder, None) })
        }
        [agent] => Ok(ChosenAgent { runtime, agent: agent.clone() }),
        several => {
            let named = names.iter().zip(several);
            let agents =
                named.map(|(name, agent)| format!("{name}: {}", agent.workspace.display()));
            let (runtime, agents) = (request.to.runtime.clone(), agents.collect());
            Err(MigrateError::SeveralTargets { runtime, agents })
        }
    }
}

/// Refuses a target that overlaps the source.
pub(super) fn check_apart(source: &ChosenAgent, target: &ChosenAgent) -> Result<()> {
    let places = |agent: &FoundAgent| {
        let own = [Some(&agent.workspace), agent.install.as_ref()];
        own.into_iter().flatten().map(|folder| real(folder)).collect::<Vec<_>>()
    };
    let (from, to) = (places(&source.agent), places(&target.agent));
    let overlap = |one: &PathBuf, other: &PathBuf| one.starts_with(other) || other.starts_with(one);
    let is_same_runtime = source.runtime.name == target.runtime.name;
    let meet = if is_same_runtime {
        // Agents of one runtime may share an install.
        overlap(&from[0], &to[0])
    } else {
        from.iter().any(|one| to.iter().any(|other| overlap(one, other)))
    };
    if !meet {
        return Ok(());
    }
    let workspace = target.agent.workspace.clone();
    Err(if from[0] == to[0] {
        MigrateError::AlreadyThere(workspace)
    } else {
        MigrateError::Nested(workspace)
    })
}

/// Returns the folder for snapshots; none of the agents may have it in its workspace.
pub(super) fn snapshots_folder(
    request: &MigrateRequest,
    host: &Host,
    agents: [&FoundAgent; 2],
) -> Result<PathBuf> {
    let usual = || host.folders.own_data().join("snapshots");
    let folder = std::path::absolute(request.snapshots.clone().unwrap_or_else(usual))?;
    let is_inside = |agent: &FoundAgent| real(&folder).starts_with(real(&agent.workspace));
    if agents.into_iter().any(is_inside) {
        return Err(MigrateError::SnapshotsInWorkspace(folder));
    }
    Ok(folder)
}
