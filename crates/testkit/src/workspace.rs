//! OpenClaw workspaces and installs for tests, of any size: the same seed gives the same files.
//!
//! A workspace has typical content: the agent's identity, its memories and daily logs. With [edge
//! cases](Workspace::edge_cases) it also has content that readers get wrong: other line endings,
//! front matter, headings within fences, links, databases, hidden files with planted secrets.

mod edge_cases;
mod install;

use std::fmt::Write as _;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use jiff::tz::Offset;

use crate::bulk::Prose;

/// The day of the last log, and of all other files.
const LAST_DAY: Date = date(2026, 3, 20);
const SECTIONS_A_DAY: usize = 5;
const EVENING: i8 = 18;
const NIGHT: i8 = 21;
const PARTS_OF_A_DAY: [&str; SECTIONS_A_DAY] =
    ["Session — 10:30 AM", "Session — 2:15 PM", "Morning", "Afternoon", "Evening"];
const EMOJI: [&str; 6] = ["🚀", "🦞", "🧠", "⚠️", "👩‍💻", "🇯🇵"];
const CJK: &str =
    "记忆系统迁移数据库配置会议决定用户偏好东京大阪天気プロジェクト設定変更検索한국어메모";

/// A workspace to generate.
#[derive(Clone, Debug)]
pub struct Workspace {
    seed: u64,
    days: u32,
    kind: Kind,
    home: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    EdgeCases,
    Nasty,
}

impl Workspace {
    fn new(kind: Kind) -> Self {
        Self { seed: 1, days: 20, kind, home: None }
    }

    /// Twenty days of a tidy agent.
    #[must_use]
    pub fn plain() -> Self {
        Self::new(Kind::Plain)
    }

    /// The same with one of every kind of file that is hard to read.
    #[must_use]
    pub fn edge_cases() -> Self {
        Self::new(Kind::EdgeCases)
    }

    /// The same as [plain](Self::plain) with a file that is not UTF-8, an unreadable one,
    /// and a line of 32 MiB.
    #[must_use]
    pub fn nasty() -> Self {
        Self::new(Kind::Nasty)
    }

    /// Another seed gives other texts in the same layout.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of daily logs.
    #[must_use]
    pub fn days(self, days: u32) -> Self {
        Self { days, ..self }
    }

    /// Adds an install in `HOME/.openclaw` whose agent has this workspace: config, credentials,
    /// transcript and search index.
    #[must_use]
    pub fn install(self, home: &Path) -> Self {
        Self { home: Some(home.to_owned()), ..self }
    }

    /// Writes the workspace. With edge cases, a file named `outside-secret.md` beside it is the
    /// target of a link.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        let mut writer = Writer { root: root.to_owned(), prose: Prose::new(self.seed) };
        writer.agent()?;
        writer.long_term_memory(self.kind)?;
        writer.daily_logs(self.kind, self.days)?;
        writer.topics(self.kind)?;
        match self.kind {
            Kind::Plain => {}
            Kind::EdgeCases => writer.edge_cases()?,
            Kind::Nasty => writer.nasty()?,
        }
        match &self.home {
            Some(home) => writer.install(home),
            None => Ok(()),
        }
    }
}

struct Writer {
    root: PathBuf,
    prose: Prose,
}

impl Writer {
    /// Writes a file of the last day.
    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
        self.put_at(name, content, LAST_DAY, EVENING)
    }

    fn put_at(&self, name: &str, content: impl AsRef<[u8]>, day: Date, hour: i8) -> io::Result<()> {
        let path = self.root.join(name);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::write(&path, content)?;
        // A fraction of a second shows whether it is kept.
        let time = day.at(hour, 0, 0, 123_456_789);
        let time = Offset::UTC.to_timestamp(time).map_err(io::Error::other)?;
        let since_epoch = time.as_duration().try_into().map_err(io::Error::other)?;
        set_modified(&path, since_epoch)
    }

    fn set_mode(&self, name: &str, mode: u32) -> io::Result<()> {
        fs_err::set_permissions(self.root.join(name), std::fs::Permissions::from_mode(mode))
    }

    fn agent(&mut self) -> io::Result<()> {
        let soul = format!("# Clawdia\n\n{}\n\n## Values\n\n{}", self.text(8), self.list(8));
        self.put("SOUL.md", soul)?;
        self.put(
            "IDENTITY.md",
            "# IDENTITY\n\n- **Name:** Clawdia\n- **Creature:** lobster\n- **Emoji:** 🦞\n\n\
             ## Capabilities\n\n- docker_management (needs Docker)\n- web_search\n",
        )?;
        let rules = format!(
            "# Operating instructions\n\n{}\n\n## SubAgent: Researcher\n\n{}\n\n\
             ## SubAgent: Coder\n\n{}\n",
            self.text(6),
            self.text(3),
            self.text(3)
        );
        self.put("AGENTS.md", rules)?;
        self.put(
            "USER.md",
            "# Alex Example\n\n## Preferences\n\n- tone: casual\n- response_length: concise\n\n\
             ## Work\n\n- role: engineer\n- company: Acme\n\n## Timezone\n\nAmerica/Los_Angeles\n",
        )?;
        let tools = format!("# Tools\n\n{}\n", self.text(4));
        self.put("TOOLS.md", tools)?;
        self.put("HEARTBEAT.md", "# Heartbeat\n\n- [ ] check mail\n- [ ] check calendar\n")?;
        self.put("BOOT.md", "# Boot\n\n- start gateway\n")?;
        self.put("BOOTSTRAP.md", "# Bootstrap\n\nDelete me.\n")
    }

    fn long_term_memory(&mut self, kind: Kind) -> io::Result<()> {
        let headings: Vec<String> =
            (0..24).map(|number| format!("{} {number}", self.prose.heading())).collect();
        let sections = self.sections(&headings, kind);
        let text = format!("# Long-term memory\n\n{}\n\n{sections}\n", self.text(2));
        self.put("MEMORY.md", text)
    }

    fn daily_logs(&mut self, kind: Kind, days: u32) -> io::Result<()> {
        let is_edge = kind == Kind::EdgeCases;
        for number in 0..days {
            let day = LAST_DAY.saturating_sub((i64::from(days - 1 - number)).days());
            let mut log = self.sections(&PARTS_OF_A_DAY, kind);
            if is_edge && number % 17 == 3 {
                log = format!("# {}\n\n{log}", day.strftime("%A, %B %d, %Y"));
            }
            if !is_edge || number % 11 != 5 {
                log.push('\n');
            }
            if is_edge && number % 13 == 7 {
                log = log.replace('\n', "\r\n");
            }
            self.put_at(&format!("memory/{day}.md"), log, day, NIGHT)?;
        }
        Ok(())
    }

    fn topics(&mut self, kind: Kind) -> io::Result<()> {
        let context =
            format!("# Active context\n\n{}\n\n## Next\n\n{}", self.text(5), self.list(1));
        self.put("memory/active-context.md", context)?;
        for name in ["atlas", "billing", "home-lab"] {
            let sections = self.sections(&["Architecture", "Lessons", "Workflow", "Risks"], kind);
            let project = format!("# Project {name}\n\n{sections}\n");
            self.put(&format!("memory/project-{name}.md"), project)?;
        }
        let mut table =
            "# Gating policies\n\n| # | Trigger | Required action | What went wrong |\n\
                         |---|---|---|---|\n"
                .to_owned();
        for number in 1..=12 {
            let cells = [self.text(1), self.text(1), self.text(1)].join(" | ");
            writeln!(table, "| {number} | {cells} |").expect("a string takes any text");
        }
        self.put("memory/gating-policies.md", table)
    }

    fn nasty(&self) -> io::Result<()> {
        self.put("memory/latin1.md", b"## Caf\xe9\n\nd\xe9j\xe0 vu\n")?;
        self.put("memory/hugeline.md", format!("## Huge\n\n{}", "x".repeat(32 << 20)))?;
        self.put("memory/unreadable.md", "## no\n\naccess\n")?;
        self.set_mode("memory/unreadable.md", 0)
    }

    /// Returns a paragraph of some sentences.
    fn text(&mut self, sentences: u32) -> String {
        let mut text = String::new();
        for number in 0..sentences {
            if number > 0 {
                text.push(' ');
            }
            self.prose.sentence(&mut text);
        }
        text
    }

    fn list(&mut self, items: u32) -> String {
        (0..items).map(|_| format!("- {}\n", self.text(1))).collect()
    }

    fn sections(&mut self, headings: &[impl AsRef<str>], kind: Kind) -> String {
        let sections = headings.iter().map(|heading| self.section(heading.as_ref(), kind));
        sections.collect::<Vec<_>>().join("\n")
    }

    /// Returns a section that ends with its last line.
    fn section(&mut self, heading: &str, kind: Kind) -> String {
        let is_edge = kind == Kind::EdgeCases;
        let (mut section, _) = self.prose.section(heading);
        if self.prose.random.chance(25) {
            write!(section, "\n{}", self.list(3)).expect("a string takes any text");
        }
        if is_edge && self.prose.random.chance(4) {
            let code = self.text(1);
            section += "\n```markdown\n## not a heading, this is inside a fence\n";
            section += &format!("{code}\n```\n");
        } else if self.prose.random.chance(6) {
            section += "\n```bash\ngrep -rn 'word' src/ | head -20\n```\n";
        }
        if is_edge && self.prose.random.chance(5) {
            let (cjk, emoji) = (self.cjk(60), *self.prose.random.pick(&EMOJI));
            section += &format!("\n{cjk}{emoji}\n");
        }
        section
    }

    fn cjk(&mut self, letters: usize) -> String {
        let all: Vec<char> = CJK.chars().collect();
        (0..letters).map(|_| *self.prose.random.pick(&all)).collect()
    }

    /// Returns bytes that do not compress.
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let numbers = std::iter::repeat_with(|| self.prose.random.next().to_le_bytes());
        numbers.flatten().take(count).collect()
    }
}

fn set_modified(path: &Path, since_epoch: Duration) -> io::Result<()> {
    let file = fs_err::File::options().write(true).open(path)?;
    file.file().set_modified(SystemTime::UNIX_EPOCH + since_epoch)
}
