// A memory corpus for OpenClaw: archives and memories that are not in the agent's own workspace.
// With `notes`, it also notes conversations before they end.
//
// Every query runs the program `anemone` once for each source, without a shell and with a timeout.
// Errors are logged, and the query returns no results: a search must not break a turn.

import { execFile } from "node:child_process";
import { basename } from "node:path";

type Settings = {
  program?: string;
  sources?: string[];
  inGroups?: boolean;
  notes?: boolean;
  timeoutMs?: number;
};

type Session = { agentSessionKey?: string; sandboxed?: boolean };
type SearchQuestion = Session & { query: string; maxResults?: number };
type GetQuestion = Session & { lookup: string; fromLine?: number; lineCount?: number };

type SearchAnswer = {
  hits?: {
    path: string;
    start_line?: number | null;
    end_line?: number | null;
    headings?: string[];
    score?: number;
    text?: string;
    date?: string | null;
    suspicion_reason?: string | null;
  }[];
};
type ReadAnswer = { path: string; from: number; lines: number; text: string; suspicion_reason?: string | null };

type Log = { warn(message: string): void };
/** What OpenClaw says about the conversation that a hook is called for. */
type HookEvent = { sessionFile?: string; reason?: string };
type HookContext = { agentId?: string; workspaceDir?: string; sessionKey?: string; sessionId?: string };
type HookHandler = (event: HookEvent, context: HookContext) => Promise<void>;
type Api = {
  config?: object;
  runtime?: { agent?: { resolveAgentWorkspaceDir?(config: object, agentId: string): string } };
  pluginConfig?: Settings;
  logger: Log;
  registerMemoryCorpusSupplement(supplement: object): void;
  on?(name: string, handler: HookHandler): void;
};

/** The first part of every path of this corpus. */
const PREFIX = "anemone/";
const TIMEOUT_MS = 8_000;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_RESULTS = 50;
const MOST_QUERY = 8_000;
/** The number of programs that run at the same time for one query. */
const AT_ONCE = 4;
/** The longest time that a note may take. */
const NOTE_MS = 30_000;
/** Why OpenClaw resets a conversation by itself. */
const BY_ITSELF = ["daily", "idle"];
/** Parts of session keys of groups, and of sessions that no person started. */
const SHARED = ["group", "channel", "subagent", "cron", "hook"];
/** The environment variables that the program gets: no keys of the gateway. */
const VARIABLES = [
  ...["HOME", "PATH", "TMPDIR", "LANG", "USERPROFILE", "SystemRoot", "LOCALAPPDATA"],
  // Where the conversations of this gateway are.
  ...["OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "OPENCLAW_PROFILE", "OPENCLAW_WORKSPACE_DIR"],
];

export default {
  id: "anemone",
  name: "Anemone",
  description: "Lets memory_search find texts in archives and in other memories than this agent's own.",
  register(api: Api) {
    const settings = api.pluginConfig ?? {};
    if ((settings.sources ?? []).length > 0) {
      api.registerMemoryCorpusSupplement(supplement(settings, api.logger));
    }
    if (settings.notes === true) keepNotes(api, settings);
  },
};

/** Notes a conversation when it ends or was reset, and before it is compacted. */
export function keepNotes(api: Pick<Api, "logger" | "on" | "config" | "runtime">, settings: Settings) {
  if (api.on === undefined) {
    api.logger.warn("anemone: this version of OpenClaw calls no hooks of plugins; no notes are kept");
    return;
  }
  const noting = (moment: string[]): HookHandler => async (event, context) => {
    // Without its workspace, the memory that the note belongs to is unknown.
    const workspace = workspaceOf(api, context ?? {});
    if (!workspace) return;
    // OpenClaw keeps nothing of these conversations, and so do we.
    if (/(^|:)incognito-/.test(context.sessionKey ?? "")) return;
    const told = {
      session_id: context.sessionId,
      session_key: context.sessionKey,
      transcript_path: event?.sessionFile,
    };
    const args = ["hook", ...moment, "--json", "-w", workspace];
    await ask({ ...settings, timeoutMs: NOTE_MS }, api.logger, args, JSON.stringify(told));
  };
  api.on("before_reset", noting(["session-end"]));
  // OpenClaw itself resets a conversation at night, or after a pause; it only says so afterwards.
  api.on("session_end", async (event, context) => {
    const reason = event?.reason ?? "";
    if (BY_ITSELF.includes(reason)) await noting(["session-end", "--reason", reason])(event, context);
  });
  api.on("before_compaction", noting(["pre-compact", "--compacting", "--direct"]));
}

/**
 * Returns the workspace of the agent that had a conversation. When a turn compacts its own
 * conversation, OpenClaw only says which session it is.
 */
function workspaceOf(api: Pick<Api, "config" | "runtime">, context: HookContext): string | undefined {
  const agent = context.agentId ?? /^agent:([^:]+):/.exec(context.sessionKey ?? "")?.[1];
  if (context.workspaceDir || agent === undefined) return context.workspaceDir;
  return api.runtime?.agent?.resolveAgentWorkspaceDir?.(api.config ?? {}, agent);
}

/** Searches and reads the configured sources. */
export function supplement(settings: Settings, log: Log) {
  const sources = named(settings.sources ?? []);
  const mayAnswer = (session: Session) =>
    !session.sandboxed && (settings.inGroups === true || isPrivate(session.agentSessionKey ?? ""));

  async function search(question: SearchQuestion) {
    if (!mayAnswer(question) || question.query.trim() === "") return [];
    const limit = Math.max(1, Math.min(MOST_RESULTS, Math.floor(question.maxResults ?? 6)));
    // An argument must not contain a NUL byte, and its length is limited.
    const query = question.query.replaceAll("\0", " ").slice(0, MOST_QUERY);
    const answers: ReturnType<typeof result>[] = [];
    const waiting = [...sources];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [name, source] = next;
        const args = ["search", "--json", "--limit", `${limit}`, "--", query, source];
        const found = (await ask(settings, log, args)) as SearchAnswer | null;
        answers.push(...(found?.hits ?? []).map((hit) => result(name, hit)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return answers
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  async function get(question: GetQuestion) {
    if (!mayAnswer(question) || !question.lookup.startsWith(PREFIX)) return null;
    const [name, ...rest] = question.lookup.slice(PREFIX.length).split("/");
    const source = sources.get(name ?? "");
    if (source === undefined || rest.length === 0) return null;
    const range = [
      ...(question.fromLine ? ["--from", `${question.fromLine}`] : []),
      ...(question.lineCount ? ["--lines", `${question.lineCount}`] : []),
    ];
    const args = ["get", "--json", ...range, "--", nameFromShown(rest.join("/")), source];
    const got = (await ask(settings, log, args)) as ReadAnswer | null;
    if (got === null) return null;
    return {
      corpus: "anemone",
      path: question.lookup,
      content: quoted(got.text, got.suspicion_reason),
      fromLine: got.from,
      lineCount: got.lines,
      provenanceLabel: label(name ?? ""),
      sourceType: "anemone",
      sourcePath: source,
    };
  }

  return { search, get };
}

function result(name: string, hit: NonNullable<SearchAnswer["hits"]>[number]) {
  const path = `${PREFIX}${name}/${shownName(hit.path)}`;
  const line = hit.start_line ?? undefined;
  return {
    corpus: "anemone",
    path,
    title: hit.headings?.slice(-1).map((heading) => quoted(heading.replace(BREAK, " ")))[0],
    score: hit.score ?? 0,
    snippet: quoted(hit.text ?? "", hit.suspicion_reason),
    startLine: line,
    endLine: hit.end_line ?? undefined,
    citation: line === undefined ? path : `${path}#L${line}`,
    source: "anemone",
    provenanceLabel: label(name),
    sourceType: "anemone",
    updatedAt: hit.date ?? undefined,
  };
}

function label(name: string): string {
  return `anemone: ${name}, quoted data`;
}

/** Every sequence that some program treats as a line break. */
const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
/** Characters that are invisible, or change how other characters are shown. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Quotes remembered text like every other output for a model: a bar before each line and no
 * marks, so that no text can pose as an instruction or as the end of the quote.
 */
function quoted(text: string, suspicion?: string | null): string {
  const marks: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;" };
  const plain = text.replace(/[<>&]/g, (mark) => marks[mark] ?? mark);
  const lines = plain.split(BREAK).map((line) => `| ${line}`.trimEnd());
  return [...(suspicion ? [`[suspicious: ${suspicion}]`] : []), ...lines].join("\n");
}

/** Writes the hidden characters of a name as `{U+202E}`; `nameFromShown` is the inverse. */
function shownName(name: string): string {
  const code = (c: string) => (c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return name.replace(HIDDEN, (c) => `{U+${code(c)}}`);
}

function nameFromShown(shown: string): string {
  return shown.replace(/\{U\+([0-9A-F]{4,6})\}/g, (whole, digits: string) => {
    const code = Number.parseInt(digits, 16);
    const c = code <= 0x10ffff ? String.fromCodePoint(code) : "";
    return c.search(HIDDEN) === 0 ? c : whole;
  });
}

/** Gives each source a short name, so that a path says which source it is from. */
function named(sources: string[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const source of sources) {
    const plain = basename(source).replace(/[^\w.-]+/g, "-") || "memory";
    let name = plain;
    for (let number = 2; names.has(name); number += 1) name = `${plain}-${number}`;
    names.set(name, source);
  }
  return names;
}

/**
 * Says whether a session is a conversation with one person. Unknown forms of keys are not, because
 * groups have had keys of many forms, and jobs, hooks and sub-agents have keys too.
 */
function isPrivate(key: string): boolean {
  const parts = key.toLowerCase().split(":");
  const rest = parts[0] === "agent" ? parts.slice(2) : parts;
  const isShared = (part: string) =>
    SHARED.includes(part) || part.endsWith("@g.us") || /^(guild|channel)-/.test(part);
  if (rest.some(isShared)) return false;
  const isMain = rest[0] === "main" && (rest.length === 1 || rest[1] === "thread");
  return isMain || rest.includes("direct") || rest.includes("dm");
}

/** Runs the program, which reads `input` if there is any; returns `null` if it fails. */
function ask(settings: Settings, log: Log, args: string[], input = ""): Promise<unknown> {
  const options = {
    timeout: settings.timeoutMs ?? TIMEOUT_MS,
    maxBuffer: MOST_BYTES,
    windowsHide: true,
    env: environment(),
  };
  return new Promise((done) => {
    const fail = (reason: string | undefined) => {
      log.warn(`anemone: ${args[0]} failed: ${reason}`);
      done(null);
    };
    try {
      const child = execFile(settings.program ?? "anemone", args, options, (error, stdout) => {
        const answer = parsed(stdout);
        if (answer?.ok === true) return done(answer);
        fail(answer?.error ?? (error === null ? "no JSON" : error.message.split("\n")[0]));
      });
      // A program that does not start, or ends early, closes its stdin: that is no error here.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    } catch (error) {
      // Node refuses invalid arguments before the program starts.
      fail(error instanceof Error ? error.message.split("\n")[0] : "it does not start");
    }
  });
}

function environment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && (VARIABLES.includes(name) || name.startsWith("XDG_")),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

function parsed(text: string): { ok?: boolean; error?: string } | null {
  try {
    return JSON.parse(text) as { ok?: boolean; error?: string };
  } catch {
    return null;
  }
}
