//! Documents of a memory as resources: `memory://` and the path, each part percent-encoded.
//!
//! A document beside the workspace has a path that begins with `../`. Programs that normalise
//! addresses would remove such parts, so all of them together are written as one part:
//! `memory://%2E%2E%2F%2E%2E/notes/a.md`. The memory itself only returns documents that it lists,
//! wherever an address leads.
//!
//! Hosts show a resource to a model unchanged, so a document is quoted like everything else, and is
//! not an exact copy of its file. `anemone get` copies.

use anemone_memory::{Frame, revealed, shown_name};
use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::answer::{refusal_data, refusal_text};
use crate::arguments::shortened;
use crate::quote::Findings;
use crate::service::{MemoryService, RefusalKind, ServiceRefusal};

const SCHEME: &str = "memory://";
const MIME_TYPE: &str = "text/markdown";

/// How many documents are listed at once.
const PAGE: usize = 100;

/// The longest address that is parsed.
const MAX_URI_BYTES: usize = 16 * 1024;

/// The prefix of the path in a cursor, so that cursors of other servers are recognised.
const AFTER: &str = "after ";

const UP: &str = "../";

/// Returns the address of a document.
pub(crate) fn uri_of(path: &str) -> String {
    let inside = path.trim_start_matches(UP);
    let ups = (path.len() - inside.len()) / UP.len();
    let mut uri = SCHEME.to_owned();
    if ups > 0 {
        uri.push_str(&vec!["%2E%2E"; ups].join("%2F"));
        uri.push('/');
    }
    for byte in inside.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Returns the path in an address, if a document can have that path.
pub(crate) fn path_of(uri: &str) -> Option<String> {
    if uri.len() > MAX_URI_BYTES {
        return None;
    }
    let path = uri.strip_prefix(SCHEME)?;
    let (ups, inside) = match path.split_once('/') {
        Some((first, rest)) => match ups_of(first) {
            Some(ups) => (ups, rest),
            None => (0, path),
        },
        None => (0, path),
    };
    let parts: Option<Vec<_>> = inside.split('/').map(decoded).collect();
    let parts = parts?;
    let is_name = |part: &String| {
        !matches!(part.as_str(), "" | "." | "..")
            && !part.contains(['/', '\\'])
            && !part.chars().any(char::is_control)
    };
    parts.iter().all(is_name).then(|| format!("{}{}", UP.repeat(ups), parts.join("/")))
}

/// Returns how many levels a first part leads up, if it only leads up and is written in our form.
fn ups_of(first: &str) -> Option<usize> {
    let is_up = |part: &str| part.eq_ignore_ascii_case("%2E%2E");
    let first = first.replace("%2f", "%2F");
    first.split("%2F").all(is_up).then(|| first.split("%2F").count())
}

fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        rest = after;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let value = digit(digits[0])? * 16 + digit(digits[1])?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Lists the documents after a cursor: the path of the last that was listed, so that documents
/// which come and go meanwhile move no other from one page to the next. Documents whose names
/// cannot be written as an address are not listed; tools find them.
pub(crate) fn list(
    service: &dyn MemoryService,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let mut documents = service.documents()?;
    documents.retain(|path| path_of(&uri_of(path)).as_ref() == Some(path));
    documents.sort_unstable();
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let last = cursor
                .strip_prefix(AFTER)
                .ok_or_else(|| ErrorData::invalid_params("invalid cursor", None))?;
            documents.partition_point(|path| path.as_str() <= last)
        }
    };
    let resource =
        |path: &String| Resource::new(uri_of(path), shown_name(path)).with_mime_type(MIME_TYPE);
    let (page, rest) = documents[start..].split_at(PAGE.min(documents.len() - start));
    let next_cursor = page.last().filter(|_| !rest.is_empty()).map(|path| format!("{AFTER}{path}"));
    let mut listed = ListResourcesResult::with_all_items(page.iter().map(resource).collect())
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private);
    listed.next_cursor = next_cursor;
    Ok(listed)
}

/// Lists the one form of all addresses.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new("memory://{+path}", "memory")
        .with_title("Memory document")
        .with_description("A document of the memory, such as memory://memory/2026-03-01.md.")
        .with_mime_type(MIME_TYPE);
    ListResourceTemplatesResult::with_all_items(vec![template])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private)
}

/// Reads the document at an address, quoted.
pub(crate) fn read(
    service: &dyn MemoryService,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let path = path_of(uri).ok_or_else(|| not_found(uri))?;
    let text = service.document(&path).map_err(|refusal| match refusal.kind {
        RefusalKind::NotFound => not_found(uri),
        _ => refusal.into(),
    })?;
    let mut frame = Frame::new(&service.delimiter()?);
    frame.entry(&format!("{}{}", shown_name(&path), Findings::of(&text).heading()), &text);
    let contents = ResourceContents::text(frame.finish(), uri).with_mime_type(MIME_TYPE);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// Returns the error of an address that leads nowhere.
pub(crate) fn not_found(uri: &str) -> ErrorData {
    let uri = revealed(&shortened(uri));
    ErrorData::resource_not_found(
        format!("there is no resource {uri:?}; resources/list tells which there are"),
        Some(json!({ "uri": uri })),
    )
}

/// The memory refuses where no tool can report it.
impl From<ServiceRefusal> for ErrorData {
    fn from(refusal: ServiceRefusal) -> Self {
        Self::internal_error(refusal_text(&refusal), Some(refusal_data(&refusal)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_from_its_address() {
        for path in [
            "MEMORY.md",
            "memory/2026-03-01.md",
            "memory/茶 & 水%2f#?.md",
            "a:b.md",
            "../a.md",
            "../../notes/.../a.md",
            "..a/b.md",
            "%2E%2E/a.md",
        ] {
            let uri = uri_of(path);
            assert!(uri.is_ascii() && !uri.contains(['#', '?', ' ']), "{uri}");
            assert_eq!(path_of(&uri).as_deref(), Some(path));
        }
        assert_eq!(uri_of("memory/茶.md"), "memory://memory/%E8%8C%B6.md");
        assert_eq!(uri_of("../../a.md"), "memory://%2E%2E%2F%2E%2E/a.md");
        assert_eq!(path_of("memory://%2e%2e%2f%2e%2e/a.md").as_deref(), Some("../../a.md"));
    }

    #[test]
    fn an_address_that_leads_out_means_nothing() {
        for uri in [
            "",
            "MEMORY.md",
            "memory:MEMORY.md",
            "memory://",
            "memory:///etc/passwd",
            "memory://../secret",
            "memory://memory/../../secret",
            "memory://memory/%2e%2e/secret",
            "memory://%2e%2e%2fsecret",
            "memory://%2e%2e",
            "memory://%2e%2e/",
            "memory://%2e%2e/%2e%2e/secret",
            "memory://%2e%2e/../secret",
            "memory://%2e%2e%2f/secret",
            "memory://.%2e/secret",
            "memory://memory%2Fa.md",
            "memory://memory%5Ca.md",
            "memory://memory\\a.md",
            "memory://./MEMORY.md",
            "memory://memory//a.md",
            "memory://memory/",
            "memory://a%00b.md",
            "memory://a\0b.md",
            "memory://a%0ab.md",
            "memory://a%",
            "memory://a%4",
            "memory://a%zz",
            "memory://a%+1",
            "memory://%ff%fe.md",
            "file:///etc/passwd",
            "https://example.org/MEMORY.md",
        ] {
            assert_eq!(path_of(uri), None, "{uri:?}");
        }
        assert_eq!(path_of(&format!("memory://{}", "a".repeat(20_000))), None);
    }
}
