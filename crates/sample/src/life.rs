//! All that Clawdia has by the end of March: the files of [`agent`](crate::agent), and the days and
//! people that those few leave out.
//!
//! The sample for tests is small and never changes; this is the one to look around in. Files are
//! all there is to it: records are for an adapter to make.

use anemone_format::Moment;

use crate::{MARCH, PICTURE, Page, at, page, picture};

/// A file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifeFile {
    /// Its path in the workspace.
    pub path: &'static str,
    /// Its content.
    pub text: &'static str,
    /// When it was last written.
    pub modified: Moment,
}

/// Returns the workspace of the sample agent at the end of March 2026, sorted by path.
#[must_use]
pub fn life() -> Vec<LifeFile> {
    let picture = page(PICTURE, "2026-03-08T20:05:00Z", picture());
    let pages = MARCH.iter().chain(LIFE).chain(DASHBOARD).chain(std::iter::once(&picture));
    let mut files: Vec<LifeFile> = pages
        .map(|page| LifeFile { path: page.path, text: page.text, modified: at(page.modified) })
        .collect();
    files.sort_by_key(|file| file.path);
    files
}

macro_rules! life {
    ($path:literal, $modified:literal) => {
        page($path, $modified, include_str!(concat!("../agent/life/", $path)))
    };
}

/// Tomasz wrote a page that shows the water; what it is made with does not travel.
const DASHBOARD: &[Page] = &[
    page(
        "dashboard/index.html",
        "2026-02-08T14:31:00Z",
        "<!doctype html>\n<title>Water</title>\n<p>25.0 &deg;C, give or take an opinion.</p>\n",
    ),
    page(
        "dashboard/node_modules/left-paw/index.js",
        "2026-02-08T14:30:12Z",
        "module.exports = (cat) => cat.paws[0];\n",
    ),
];

const LIFE: &[Page] = &[
    life!("memory/2026-01-06.md", "2026-01-06T19:00:00Z"),
    life!("memory/2026-01-07.md", "2026-01-07T20:07:13Z"),
    life!("memory/2026-01-09.md", "2026-01-09T21:14:26Z"),
    life!("memory/2026-01-12.md", "2026-01-12T19:21:39Z"),
    life!("memory/2026-01-14.md", "2026-01-14T20:28:52Z"),
    life!("memory/2026-01-17.md", "2026-01-17T21:35:05Z"),
    life!("memory/2026-01-19.md", "2026-01-19T19:42:18Z"),
    life!("memory/2026-01-21.md", "2026-01-21T20:49:31Z"),
    life!("memory/2026-01-26.md", "2026-01-26T21:56:44Z"),
    life!("memory/2026-01-29.md", "2026-01-29T19:03:57Z"),
    life!("memory/2026-02-02.md", "2026-02-02T20:10:10Z"),
    life!("memory/2026-02-06.md", "2026-02-06T21:17:23Z"),
    life!("memory/2026-02-09.md", "2026-02-09T19:24:36Z"),
    life!("memory/2026-02-11.md", "2026-02-11T20:31:49Z"),
    life!("memory/2026-02-13.md", "2026-02-13T21:38:02Z"),
    life!("memory/2026-02-19.md", "2026-02-19T19:45:15Z"),
    life!("memory/2026-02-22.md", "2026-02-22T20:52:28Z"),
    life!("memory/2026-02-24.md", "2026-02-24T21:59:41Z"),
    life!("memory/2026-02-28.md", "2026-02-28T19:06:54Z"),
    life!("memory/2026-03-02.md", "2026-03-02T20:13:07Z"),
    life!("memory/2026-03-04.md", "2026-03-04T21:20:20Z"),
    life!("memory/2026-03-06.md", "2026-03-06T19:27:33Z"),
    life!("memory/2026-03-10.md", "2026-03-10T20:34:46Z"),
    life!("memory/2026-03-12.md", "2026-03-12T21:41:59Z"),
    life!("memory/2026-03-14.md", "2026-03-14T19:48:12Z"),
    life!("memory/2026-03-17.md", "2026-03-17T20:55:25Z"),
    life!("memory/2026-03-23.md", "2026-03-23T21:02:38Z"),
    life!("memory/2026-03-25.md", "2026-03-25T19:09:51Z"),
    life!("memory/2026-03-27.md", "2026-03-27T20:16:04Z"),
    life!("memory/people.md", "2026-03-25T18:40:00Z"),
    life!("memory/project-tasting.md", "2026-03-21T17:12:09Z"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_months_are_written_down_day_by_day() {
        let files = life();
        let days: Vec<&str> = files
            .iter()
            .filter_map(|file| file.path.strip_prefix("memory/2026-")?.strip_suffix(".md"))
            .collect();
        assert_eq!(days.len(), 36);
        for month in ["01-", "02-", "03-"] {
            assert!(days.iter().filter(|day| day.starts_with(month)).count() >= 10, "{month}");
        }
        assert!(files.is_sorted_by(|a, b| a.path < b.path), "no path occurs twice");
    }

    #[test]
    fn a_life_has_everything_that_the_small_sample_has() {
        let files = life();
        for page in MARCH {
            let same = files.iter().find(|file| file.path == page.path);
            assert_eq!(same.map(|file| file.text), Some(page.text), "{}", page.path);
        }
    }

    #[test]
    fn a_day_is_written_on_that_day() {
        for file in life() {
            let Some(day) = file.path.strip_prefix("memory/2026-") else { continue };
            let written = file.modified.as_str();
            assert!(written.starts_with(&format!("2026-{}", &day[..5])), "{}", file.path);
        }
    }

    #[test]
    fn three_languages_are_spoken() {
        let text: String = life().iter().map(|file| file.text).collect();
        for phrase in ["The smoke detector went off", "Die Probetorte ist umgefallen", "妈妈寄来"]
        {
            assert!(text.contains(phrase), "{phrase}");
        }
    }
}
