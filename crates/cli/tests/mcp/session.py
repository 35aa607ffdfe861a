"""Drives `anemone mcp` with the protocol's Python package, as another program's author would.

    session.py BINARY WORKSPACE

Over stdio and over HTTP, in both revisions: every tool of the three sets; arguments that are wrong
or very long; eight clients at once, over HTTP of one server; clients that die in a call while
others go on; news of changes; documents beside the workspace. Ends with 0 when all of it held.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated

BINARY, WORKSPACE = sys.argv[1:3]
# How the package is told to begin, and what it comes to: by a handshake, or by a discovery.
REVISIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
# A wait that takes longer is a failure, not a slow machine.
PATIENCE = 60
SERVE = ["mcp", "-r", "openclaw", "-w", WORKSPACE]
DAY = "memory://memory/2026-03-01.md"


class OverStdio:
    """Every client starts a program of its own."""

    def __init__(self, *flags):
        self.args = [*SERVE, *flags]

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    @asynccontextmanager
    async def connect(self, mode, **more):
        server = StdioServerParameters(command=BINARY, args=self.args, env=dict(os.environ))
        async with Client(server, mode=mode, read_timeout_seconds=PATIENCE, **more) as client:
            yield client

    async def dies_in_a_call(self, mode):
        dying = subprocess.Popen(
            [BINARY, *self.args], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

        def say(*messages):
            dying.stdin.write(b"".join(json.dumps(it).encode() + b"\n" for it in messages))
            dying.stdin.flush()

        if mode == "auto":
            say(CALL)
        else:
            say(INITIALIZE)
            assert b"anemone" in await asyncio.to_thread(dying.stdout.readline)
            say(INITIALIZED, LEGACY_CALL)
        # Both ends go at once, as when a process is killed.
        dying.stdout.close()
        dying.stdin.close()
        await asyncio.to_thread(dying.wait, PATIENCE)


class OverHttp:
    """All clients share one program."""

    def __init__(self, *flags):
        self.args = [*SERVE, *flags, "--http", "0"]

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            BINARY, *self.args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        async with asyncio.timeout(PATIENCE):
            serving = json.loads(await self.process.stdout.readline())
        self.url = serving["url"]
        token = Path(serving["token_file"]).read_text().strip()
        self.headers = {"Authorization": f"Bearer {token}"}
        return self

    async def __aexit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(PATIENCE):
                code = await self.process.wait()
        except TimeoutError:
            self.process.kill()
            raise
        # What went wrong before says more.
        assert kind or code == 0, f"the server ended with {code}"

    def http(self):
        return httpx2.AsyncClient(headers=self.headers, timeout=PATIENCE, trust_env=False)

    @asynccontextmanager
    async def connect(self, mode, **more):
        async with self.http() as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE, **more) as client:
                yield client

    async def dies_in_a_call(self, mode):
        address = urlsplit(self.url)
        headers = {
            "Host": address.netloc,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self.headers,
        }
        if mode == "auto":
            headers["MCP-Protocol-Version"] = REVISIONS[mode]
            headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "memory_search"}
            body = json.dumps(CALL)
        else:
            async with self.http() as http:
                begun = await http.post(self.url, json=INITIALIZE, headers=headers)
                headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
                told = await http.post(self.url, json=INITIALIZED, headers=headers)
                assert told.status_code == 202, told
            body = json.dumps(LEGACY_CALL)
        headers["Content-Length"] = str(len(body))
        lines = [f"POST {address.path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        await writer.drain()
        writer.close()


WHO = {"name": "dying", "version": "0"}
SEARCH = {"name": "memory_search", "arguments": {"query": "lighthouse"}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": WHO,
    "io.modelcontextprotocol/clientCapabilities": {},
}
BEGIN = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": WHO}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": BEGIN}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LEGACY_CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": SEARCH}
CALL = {**LEGACY_CALL, "params": {**SEARCH, "_meta": META}}


def text(result):
    return result.content[0].text


async def told(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, f"{tool} {arguments}: {text(result)}"
    return result


async def refused(client, tool, part, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error and part in text(result), f"{tool}: {text(result)[:500]}"


async def fails(call, part):
    try:
        await call
    except MCPError as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"no error with {part!r}")


async def our_tools(server, mode):
    key = f"python.{type(server).__name__}.{mode}"
    async with server.connect(mode) as client:
        assert client.protocol_version == REVISIONS[mode], client.protocol_version
        assert client.server_info.name == "anemone"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [
            "memory_search", "memory_get", "memory_remember", "memory_forget", "memory_context",
            "memory_status",
        ], list(tools)
        assert all(tool.output_schema for tool in tools.values())
        assert tools["memory_search"].annotations.read_only_hint
        assert tools["memory_forget"].annotations.destructive_hint

        kept = await told(
            client, "memory_remember", text=f"The lighthouse of {key} is painted teal.", key=key
        )
        assert kept.structured_content["written"], kept
        found = await told(client, "memory_search", query=f"lighthouse {key} teal")
        first = found.structured_content["results"][0]
        assert "teal" in first["snippet"] and first["citation"] in text(found), found
        # Some clients hand a model only the data, so the frame is there too.
        assert found.structured_content["notice"].startswith("Quoted from memory."), found
        assert first["snippet"].startswith("| ") and "<recalled-memory " in text(found), found
        assert first["origin"] == "agent" and first["originVerified"], found
        read = await told(client, "memory_get", path=first["path"], lines=5)
        assert read.structured_content["status"] == "ok", read
        context = await told(client, "memory_context", query="lighthouse", tokens=2000)
        assert context.structured_content["text"], context
        status = await told(client, "memory_status")
        assert status.structured_content["writable"], status
        gone = await told(client, "memory_forget", key=key)
        assert gone.structured_content["entries"], gone
        found = await told(client, "memory_search", query=f"lighthouse {key} teal")
        assert not any(key in it["snippet"] for it in found.structured_content["results"])
        await bad_arguments(client, f"{key}.long")

        resources = (await client.list_resources()).resources
        assert resources, "documents are listed"
        for resource in resources:
            read = await client.read_resource(str(resource.uri))
            assert read.contents[0].text.startswith("<recalled-memory "), resource
        beside = [it for it in resources if it.name.startswith("../")]
        assert [it.uri for it in beside] == ["memory://%2E%2E/notes/harbour.md"], beside
        await fails(client.read_resource("memory://../secret"), "there is no resource")
        await fails(client.read_resource("memory://%2E%2E/secret.md"), "there is no resource")
        prompt = await client.get_prompt("recall", {"question": "lighthouse"})
        assert "My question: lighthouse" in prompt.messages[0].content.text
        flush = await client.get_prompt("flush")
        assert "memory_remember" in flush.messages[0].content.text, flush


async def bad_arguments(client, key):
    await refused(client, "memory_search", "`query` is missing")
    await refused(client, "memory_search", "did you mean `maxResults`", query="a", max_results=1)
    await refused(client, "memory_search", "from 1 to 50", query="a", maxResults=0)
    await refused(client, "memory_search", "10000 characters", query="x" * 1_000_000)
    megabyte = "word " * 200_000
    await refused(
        client, "memory_remember", "1000000 bytes and at most 65536", text=megabyte, key=key
    )
    await refused(client, "memory_forget", "(nothing_to_forget)", key=key)
    await fails(client.call_tool("memory_serach", {}), "did you mean memory_search?")


async def only_reading(server, mode):
    async with server.connect(mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["memory_search", "memory_get", "memory_context", "memory_status"], names
        await refused(client, "memory_remember", "--allow-write", text="a")


async def tools_of_openclaw(server, mode):
    async with server.connect(mode) as client:
        ferry = f"The ferry of {mode} leaves at nine."
        stored = await told(client, "memory_store", text=ferry)
        assert stored.structured_content["action"] == "created", stored
        again = await told(client, "memory_store", text=ferry)
        assert again.structured_content["action"] == "duplicate", again
        assert "force" not in text(again) and "supersedes" not in text(again), again
        recalled = await told(client, "memory_recall", query=f"ferry {mode} nine")
        assert recalled.structured_content["count"] >= 1, recalled
        gone = await told(client, "memory_forget", memoryId=stored.structured_content["id"])
        assert gone.structured_content["action"] == "deleted", gone
        await refused(client, "memory_forget", "query or a memoryId")


async def tools_of_zeroclaw(server, mode):
    async with server.connect(mode) as client:
        key = f"ferry_{mode}"
        stored = await told(client, "memory_store", key=key, content="The ferry leaves at ten.")
        assert text(stored) == f"Stored memory: {key}", stored
        recalled = await told(client, "memory_recall", query="ferry ten")
        assert text(recalled).startswith("Found "), recalled
        assert text(await told(client, "memory_forget", key=key)) == f"Forgot memory: {key}"
        again = await told(client, "memory_forget", key=key)
        assert text(again) == f"No memory found with key: {key}", again


async def one_of_eight(server, number, all_there):
    mode = list(REVISIONS)[number % 2]
    async with server.connect(mode) as client:
        await all_there.wait()
        for turn in range(3):
            key = f"eight.{number}.{turn}"
            await told(client, "memory_remember", text=f"Crate {key} holds pears.", key=key)
            found = await told(client, "memory_search", query=f"crate {key}")
            snippets = [it["snippet"] for it in found.structured_content["results"]]
            assert any(key in it for it in snippets), (key, snippets)


async def eight_at_once(server):
    all_there = asyncio.Barrier(8)
    async with asyncio.timeout(2 * PATIENCE), asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(one_of_eight(server, number, all_there))
    async with server.connect("legacy") as client:
        for number in range(8):
            for turn in range(3):
                key = f"eight.{number}.{turn}"
                gone = await told(client, "memory_forget", key=key)
                assert len(gone.structured_content["entries"]) == 1, (key, gone)


async def some_die_in_a_call(server):
    async with server.connect("legacy") as other, server.connect("auto") as another:
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(server.dies_in_a_call(list(REVISIONS)[number % 2]))
            for client in (other, another):
                for _ in range(4):
                    await told(client, "memory_search", query="lighthouse")
        for client in (other, another):
            await told(client, "memory_search", query="lighthouse")


def change_the_day():
    with Path(WORKSPACE, "memory", "2026-03-01.md").open("a") as day:
        day.write("\nThe harbour froze.\n")


async def a_newer_client_is_told(server):
    note = Path(WORKSPACE, "memory", "2026-03-09.md")
    async with server.connect("auto") as client, asyncio.timeout(PATIENCE):
        wanted = client.listen(resources_list_changed=True, resource_subscriptions=[DAY])
        async with wanted as news:
            events = aiter(news)
            # First it is told that anything may have changed before the watch began.
            opening = {type(await anext(events)), type(await anext(events))}
            assert opening == {ResourceUpdated, ResourcesListChanged}, opening
            note.write_text("# Monday\n\nThe ice is thick.\n")
            assert isinstance(event := await anext(events), ResourcesListChanged), event
            change_the_day()
            event = await anext(events)
            assert isinstance(event, ResourceUpdated) and event.uri == DAY, event
    note.unlink()


async def an_older_client_is_told(server):
    note = Path(WORKSPACE, "memory", "2026-03-10.md")
    messages = asyncio.Queue()
    async with server.connect("legacy", message_handler=messages.put) as client:
        async with asyncio.timeout(PATIENCE):
            await client.list_resources()
            note.write_text("# Tuesday\n\nThe ice is thin.\n")
            message = await messages.get()
            assert message.method == "notifications/resources/list_changed", message
            await client.subscribe_resource(DAY)
            change_the_day()
            message = await messages.get()
            assert message.method == "notifications/resources/updated", message
            assert str(message.params.uri) == DAY, message
    note.unlink()


async def session(serve):
    async with serve("--allow-write") as server:
        for mode in REVISIONS:
            await our_tools(server, mode)
        await eight_at_once(server)
        await some_die_in_a_call(server)
    async with serve("--allow-write", "--tools", "openclaw") as server:
        for mode in REVISIONS:
            await tools_of_openclaw(server, mode)
    async with serve("--allow-write", "--tools", "zeroclaw") as server:
        for mode in REVISIONS:
            await tools_of_zeroclaw(server, mode)
    for told_of_changes in (a_newer_client_is_told, an_older_client_is_told):
        async with serve() as server:
            await only_reading(server, "auto")
            await told_of_changes(server)


async def main():
    await session(OverStdio)
    await session(OverHttp)


asyncio.run(main())
