#!/usr/bin/env python3
"""Runs two builds of anemone on the same workspaces and compares what they say and write.

  compare.py OLD NEW --material DIR [--seeds 1-5] [--keep]

DIR holds `fixtures/` with recorded trees and `tools/gen_workspace.py`. For each workspace every
command below is run by both programs in a folder of the same name, with the same home, and these
are compared byte by byte: stdout (JSON and text), the exit code, archives, and the trees that
import and migrate write. Times, new ids and temporary names differ from run to run and are replaced
first. The user and system time of each command is added up for both.
"""
import argparse, hashlib, os, pathlib, re, resource, shutil, subprocess, sys

ROOT = pathlib.Path("/tmp/anemone-compare")
QUERIES = ["what did we decide about the deploy", "Berlin", '"release branch"', "zzzz qqqq"]

VOLATILE = [
    (re.compile(r'"took_ms":[0-9.e-]+'), '"took_ms":0'),
    (re.compile(r"[0-9.]+ ms"), "0 ms"),
    (re.compile(r"-20[0-9]{6}T[0-9]{6}Z"), "-TIME"),
    (re.compile(r"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:.]+(Z|[+-][0-9:]+)"), "TIME"),
    (re.compile(r'"(scanned_bytes|bytes|size_bytes|file_size)":[0-9]+'), r'"\1":0'),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "NEWID"),
    (re.compile(r"anemone: [0-9a-z]{8}\b"), "anemone: STAMP"),
    (re.compile(r'"(id|change|record)":"[0-9a-z]{8}"'), r'"\1":"STAMP"'),
    (re.compile(r"\b[0-9a-f]{16}\b"), "DELIMITER"),
    (re.compile(r"as [0-9a-z]{8}\n"), "as STAMP\n"),
    (re.compile(r"anemone-scratch-[A-Za-z0-9]+"), "SCRATCH"),
    (re.compile(r"(today|yesterday) [0-9:]{5}"), "WHEN"),
    (re.compile(r"[0-9]{2}:[0-9]{2}"), "HH:MM"),
]


def plain(data):
    text = data.decode("utf-8", "surrogateescape")
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def tree(folder):
    """Names, kinds, modes and contents below a folder, without what is volatile."""
    listed = []
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            full = os.path.join(path, name)
            stat = os.lstat(full)
            if os.path.islink(full):
                content = os.readlink(full)
            elif name.endswith((".db", ".sqlite", "-wal", "-shm")):
                content = "database"
            else:
                with open(full, "rb") as file:
                    data = file.read()
                content = hashlib.sha256(plain(data).encode("utf-8", "surrogateescape")).hexdigest()
            listed.append((os.path.relpath(full, folder), oct(stat.st_mode), content))
    return listed


def apart(was, now):
    """Where two texts begin to differ."""
    at = next((at for at, (a, b) in enumerate(zip(was, now)) if a != b), min(len(was), len(now)))
    start = max(0, at - 120)
    return f"  old: ...{was[start:at + 200]!r}\n  new: ...{now[start:at + 200]!r}"


class Side:
    def __init__(self, program):
        self.program, self.cpu = program, 0.0

    def run(self, words, env):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.program, *words], env=env, cwd=ROOT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.cpu += cpu
        return {"code": done.returncode, "out": plain(done.stdout), "err": plain(done.stderr),
                "cpu": cpu}


def commands(where, kind):
    """The commands for one workspace; where says how it is named."""
    archive = str(ROOT / "a.alf")
    yield ["agents"]
    yield ["status"]
    yield ["check", *where]
    yield ["export", *where, "-n", "--allow-secrets"]
    yield ["export", *where, "-o", archive]
    yield ["export", *where, "-o", archive, "--allow-secrets", "--sessions", "--force"]
    yield ["export", *where, "--since", archive, "-o", archive, "--force", "--allow-secrets",
           "--sessions"]
    yield ["validate", archive]
    yield ["inspect", archive]
    for query in QUERIES:
        yield ["search", query, *where]
        yield ["search", query, *where, "--human"]
        yield ["search", query, archive, "--explain"]
    yield ["search", "the deploy", *where, "--sessions", "--limit", "20"]
    yield ["get", "MEMORY.md", *where]
    yield ["get", "MEMORY.md#L3-L5", *where]
    yield ["list", *where]
    yield ["context", *where]
    yield ["context", *where, "--query", "deploy", "--human"]
    yield ["audit", *where]
    yield ["tidy", *where, "-n"]
    yield ["index", *where]
    yield ["hook", "session-start", *where]
    other = "zeroclaw" if kind == "openclaw" else "openclaw"
    folder = where[where.index("-w") + 1]
    move = ["migrate", "--from", f"{kind}:{folder}", "--to", f"{other}:{ROOT / 'moved'}"]
    yield [*move, "-n"]
    yield move
    yield ["export", "-w", str(ROOT / "moved"), "-o", str(ROOT / "m.alf"), "--allow-secrets"]
    yield ["remember", "The harbour crane is inspected every second Thursday.", *where, "-n"]
    yield ["remember", "The harbour crane is inspected every second Thursday.", *where,
           "--type", "decision", "--importance", "0.9", "--key", "crane"]
    yield ["search", "harbour crane", *where]
    yield ["forget", "--key", "crane", *where, "-n"]
    yield ["forget", "--key", "crane", *where]
    yield ["undo", *where]
    yield ["forget", "--key", "crane", "--for-good", *where]
    yield ["import", archive, "-w", str(ROOT / "back"), "-n"]
    yield ["import", archive, "-w", str(ROOT / "back")]
    yield ["import", archive, "-w", str(ROOT / "back"), "--human"]
    yield ["search", "no such", "-w", str(ROOT / "nowhere")]
    yield ["remember", "", *where]
    yield ["forget", "--id", "MEMORY.md#L9999", *where]
    yield ["search", "x", *where, "--since", "never"]
    yield ["search", "x", *where, "--agent", "nobody"]
    yield ["export", *where, "-o", str(ROOT / "no" / "such" / "x.alf")]


def workspaces(material, seeds):
    fixtures = material / "fixtures"
    for name in ("gen3", "gen9"):
        yield f"openclaw {name}", "openclaw", fixtures / "openclaw" / name, None
    for path in sorted((fixtures / "zeroclaw").iterdir()):
        yield f"zeroclaw {path.name}", "zeroclaw", path, None
    for seed in seeds:
        yield (f"generated openclaw, seed {seed}", "openclaw", None,
               ["openclaw", "OUT", "--days", "60", "--sections", "6", "--edge", "--seed", seed])
        yield (f"generated zeroclaw, seed {seed}", "zeroclaw", None,
               ["zeroclaw", "OUT", "--records", "400", "--layout", "real", "--seed", seed])


def workspace_in(folder):
    """The workspace itself, where a fixture holds an install or a home around it."""
    for found in sorted(folder.rglob("MEMORY.md")):
        return found.parent
    return folder


def lay_out(kind, source, generate, generator):
    shutil.rmtree(ROOT, ignore_errors=True)
    (ROOT / "home").mkdir(parents=True)
    target = ROOT / "work"
    if generate:
        words = [str(target) if word == "OUT" else word for word in generate]
        subprocess.run([sys.executable, str(generator), *words], check=True,
                       stdout=subprocess.DEVNULL)
    elif source.is_dir():
        shutil.copytree(source, target, symlinks=True, copy_function=shutil.copy2)
    else:
        target.mkdir()
        shutil.copy2(source, target / source.name)
    subprocess.run(["chmod", "-R", "u+w", str(target)], check=False)
    stamp = 1_780_000_000
    for path, folders, files in os.walk(target):
        for name in folders + files:
            os.utime(os.path.join(path, name), (stamp, stamp), follow_symlinks=False)
    return target if kind == "zeroclaw" else workspace_in(target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--material", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", default="1-5")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds = [str(seed) for seed in range(int(first), int(last or first) + 1)]
    generator = args.material / "tools" / "gen_workspace.py"
    old, new = Side(os.path.abspath(args.old)), Side(os.path.abspath(args.new))
    differences = compared = 0
    by_command = {}
    for name, kind, source, generate in workspaces(args.material, seeds):
        results = []
        for side in (old, new):
            folder = lay_out(kind, source, generate, generator)
            env = {"PATH": "/usr/bin:/bin", "HOME": str(ROOT / "home"), "TZ": "UTC",
                   "XDG_CONFIG_HOME": str(ROOT / "config"), "XDG_DATA_HOME": str(ROOT / "share"),
                   "XDG_CACHE_HOME": str(ROOT / "cache"), "XDG_STATE_HOME": str(ROOT / "state")}
            done = []
            for words in commands(["-w", str(folder)], kind):
                result = side.run(words, env)
                archive = ROOT / "a.alf"
                data = archive.read_bytes() if archive.exists() else b""
                result["archive"] = hashlib.sha256(data).hexdigest()
                done.append((words, result))
            written = [(part, tree(ROOT / part)) for part in ("work", "back", "moved")]
            results.append((done, written))
        (old_done, old_trees), (new_done, new_trees) = results
        here = 0
        for (words, was), (_, now) in zip(old_done, new_done):
            compared += 1
            cpu = by_command.setdefault(words[0], [0.0, 0.0])
            cpu[0] += was["cpu"]
            cpu[1] += now["cpu"]
            for part in ("code", "out", "err", "archive"):
                if was[part] != now[part]:
                    here += 1
                    print(f"DIFFERS {name}: anemone {' '.join(words)}: {part}")
                    print(apart(str(was[part]), str(now[part])))
        for (part, was), (_, now) in zip(old_trees, new_trees):
            compared += 1
            if was != now:
                here += 1
                unlike = sorted(set(was) ^ set(now))[:6]
                print(f"DIFFERS {name}: tree {part}: {unlike}")
        differences += here
        print(f"{name}: {len(old_done)} commands, {here} differences", flush=True)
    print(f"{compared} comparisons, {differences} differences")
    for command, (was, now) in sorted(by_command.items()):
        print(f"CPU {command}: old {was:.2f} s, new {now:.2f} s, ratio {now / max(was, 1e-9):.2f}")
    print(f"CPU in all: old {old.cpu:.1f} s, new {new.cpu:.1f} s")
    sys.exit(1 if differences else 0)


main()
