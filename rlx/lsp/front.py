"""The side of the server that faces the editor. Every request gets one answer, even if the
processes that check documents die or hang.

Documents are checked by :mod:`rlx.lsp.worker` in processes of their own. Each is sent one message
at a time. While a process is busy with one document, the others move to another process; a process
that takes longer than the limit is ended.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from threading import Thread, Timer
from typing import Any
from urllib.parse import quote, urlsplit

from rlx.checker.driver.time_limit import HELP, exceeded
from rlx.grammar.processes import environment, from_outside, python
from rlx.lsp.capabilities import KNOWN, LAID, TAKEN, wants
from rlx.lsp.capabilities import capabilities as offered
from rlx.lsp.framing import BadMessage, RawJson, answer, framed, messages
from rlx.lsp.texts import InvalidParams, clean, difference, edited, member, place, span

LIMIT = 60.0
"""Seconds that a document may take, if the user does not set another limit."""

PATIENCE = 0.3
"""Seconds for which a document waits for a process that is busy with another one."""

START = 30.0
"""Seconds that a process may take to start."""

STALE = 3.0
"""Seconds after which work on a text is ended if the text has changed meanwhile."""

MOST = 4
"""The largest number of processes."""

DRAIN = 1.0
"""Seconds in which requests are still answered when the input has been closed."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = (
    *(-32700, -32600, -32601),
    *(-32602, -32603),
)
NOT_INITIALIZED, CANCELLED, MODIFIED, FAILED = -32002, -32800, -32801, -32803

_ASKS = "textDocument/"
AT_PLACE = frozenset(
    f"{_ASKS}{name}"
    for name in (
        *("hover", "definition", "typeDefinition", "references", "documentHighlight"),
        *("prepareRename", "rename", "linkedEditingRange", "prepareCallHierarchy"),
        *("completion", "signatureHelp"),
    )
)
IN_RANGE = frozenset(
    f"{_ASKS}{name}"
    for name in ("codeAction", "inlayHint", "rangeFormatting", "semanticTokens/range")
)
OF_ITEM = frozenset(["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"])
OF_WORKSPACE = {
    "workspace/symbol": "rlx/workspaceSymbols",
    "workspace/diagnostic": "rlx/workspaceDiagnostics",
    "completionItem/resolve": "completionItem/resolve",
}
"""The requests that concern no open document in particular, with the words for them between
processes.
"""
REQUESTS = (
    AT_PLACE
    | IN_RANGE
    | OF_ITEM
    | OF_WORKSPACE.keys()
    | {
        f"{_ASKS}{name}"
        for name in (
            *("formatting", "documentSymbol", "foldingRange", "selectionRange", "codeLens"),
            *("semanticTokens/full", "semanticTokens/full/delta", "diagnostic"),
        )
    }
)
"""The requests."""

Message = dict[str, Any]


class _Text:
    """A text of a document."""

    def __init__(self, serial: int, text: str, theirs: object) -> None:
        self.serial = serial
        self.text = text
        self.sent = clean(text)
        self.theirs = theirs


class _Document:
    """A document that is, or was, open."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        try:
            urlsplit(uri)
            uri.encode("utf-8")
            self.inner = uri
        except ValueError:  # what no library reads as an address, the processes know by another
            self.inner = f"untitled:/{quote(uri, errors='surrogatepass')}"
        self.open = False
        self.now = _Text(0, "", None)
        self.language = ""
        self.jobs: deque[_Job] = deque()
        self.running: _Process | None = None
        self.home: _Process | None = None
        self.given_up = self.told = self.checked = -1
        self.is_laid = True
        self.trouble: list[Message] = []

    def next(self) -> _Job | None:
        """The next job: some questions have to wait until their answers are there."""
        is_checked = self.checked == self.now.serial
        for job in self.jobs:
            is_ready = {f"{_ASKS}diagnostic": is_checked, f"{_ASKS}formatting": self.is_laid}
            if is_ready.get(job.method, True) or job.version is not self.now or not self.open:
                return job
        return None


class _Job:
    """Something that a process is to do for a document: check it, answer, or forget it."""

    def __init__(self, document: _Document, method: str = "", params: Any = None) -> None:
        self.document = document
        self.version = document.now
        self.method, self.params = method, params
        self.client: Any = None
        self.answered = not method
        self.number = 0


class _Process:
    """A process, and what it is doing."""

    def __init__(
        self, events: queue.SimpleQueue[Any], initialize: Message, words: Sequence[str]
    ) -> None:
        posix = os.name == "posix"
        held, self.life = os.pipe() if posix else (-1, -1)
        self.process = subprocess.Popen(
            python("-m", "rlx.lsp.worker", str(held), *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=os.path.abspath(os.sep),
            env=environment(),
            start_new_session=posix,
            pass_fds=(held,) if posix else (),
        )
        if posix:
            os.close(held)
        self.job: _Job | None = None
        self.since = 0.0
        self.hired = time.monotonic()
        self.ready: float | None = None
        self.has: dict[str, _Text] = {}
        self.outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        Thread(target=self._write, daemon=True).start()
        Thread(target=self._read, args=(events,), daemon=True).start()
        self.send({"id": 0, "method": "initialize", "params": initialize})

    def busy_for(self) -> float:
        """The seconds that its work has taken; its start does not count, unless it is very long."""
        now = time.monotonic()
        if self.ready is None:
            return max(0.0, now - self.hired - START)
        return now - max(self.since, self.ready)

    def send(self, message: Message) -> None:
        self.outgoing.put(framed({"jsonrpc": "2.0", **message}))

    def _write(self) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):
            while True:
                self.process.stdin.write(self.outgoing.get())
                self.process.stdin.flush()

    def _read(self, events: queue.SimpleQueue[Any]) -> None:
        assert self.process.stdout is not None
        for message in messages(self.process.stdout.fileno(), answer):
            if isinstance(message, dict):
                events.put((self, message))
        events.put((self, None))

    def end(self, closed: bool = False) -> int | None:
        """End it and what it has started; its exit status, if it had ended before.

        One that has ``closed`` its pipes is on its way out.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0 if closed else 0.05 if self.job is None else 0)
        before = self.process.poll()
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, 9)
            else:
                self.process.kill()
        self.process.wait()
        if self.life >= 0:
            os.close(self.life)
            self.life = -1
        return before


class Front:
    """One editor's session.

    Parameters
    ----------
    reads, writes
        File descriptors: where messages come from, and where they go.
    limit
        Seconds that a document may take.
    trusted, isolated
        How the configuration of projects is taken: see :class:`rlx.lsp.server.Server`.
    """

    def __init__(
        self,
        reads: int,
        writes: int,
        limit: float = LIMIT,
        *,
        trusted: bool = False,
        isolated: bool = False,
    ) -> None:
        self.reads, self.writes, self.limit = reads, writes, limit
        self.words = [
            *(["--trust-config"] if trusted else []),
            *(["--isolated"] if isolated else []),
        ]
        self.told: set[str] = set()
        self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.documents: dict[str, _Document] = {}
        self.workers: list[_Process] = []
        self.pending: list[_Job] = []
        self.state = "new"
        self.initialize: Message = {}
        self.pulls = self.refreshes = self.hints = False
        self.editor: int | None = None
        self.serial = 0
        self.status: int | None = None
        self.closed_at: float | None = None

    def run(self) -> int:
        """Answer until the session ends; the exit status."""
        Thread(target=self._listen, daemon=True).start()
        try:
            while self.status is None:
                try:
                    source, message = self.events.get(timeout=self._pause())
                except queue.Empty:
                    pass
                else:
                    if source is None:
                        self._received(message)
                    else:
                        self._answered(source, message)
                self._watch()
                self._dispatch()
        except BrokenPipeError:
            self.status = 0 if self.state == "shutdown" else 1
        finally:
            self._end_workers()
        assert self.status is not None
        return self.status

    def _listen(self) -> None:
        for message in messages(self.reads):
            self.events.put((None, message))
        # an editor that has gone may have left a pipe that nobody reads
        timer = Timer(DRAIN + 0.5, self._leave)
        timer.daemon = True
        timer.start()
        self.events.put((None, EOFError()))

    def _leave(self) -> None:
        self._end_workers()
        os._exit(0 if self.state == "shutdown" else 1)

    def _pause(self) -> float:
        busy = self.closed_at is not None or any(w.job for w in self.workers)
        return 0.05 if busy or any(d.jobs for d in self.documents.values()) else 1.0

    def _end_workers(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers = []

    # What the editor sends

    def _received(self, message: Any) -> None:
        if isinstance(message, EOFError):
            self.closed_at = time.monotonic()
        elif isinstance(message, BadMessage):
            self._refuse(None, PARSE_ERROR, str(message))
        elif not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "expected one message, a JSON object")
        elif "method" not in message and ("result" in message or "error" in message):
            pass  # nothing was asked of the editor
        else:
            self._message(message)

    def _message(self, message: Message) -> None:
        asked = "id" in message
        number = message.get("id")
        if asked and (isinstance(number, bool) or not isinstance(number, int | str)):
            self._refuse(None, INVALID_REQUEST, "`id` must be a number or a string")
            return
        method, params = message.get("method"), message.get("params")
        problem = None
        if message.get("jsonrpc") != "2.0":
            problem = '`jsonrpc` must be "2.0"'
        elif not isinstance(method, str):
            problem = "`method` must be a string"
        if problem is not None:
            self._refuse(number, INVALID_REQUEST, problem)
        elif asked:
            self._request(number, str(method), params)
        else:
            try:
                self._notification(str(method), params)
            except InvalidParams as error:
                self._log(f"{method}: ignored, {error}")

    def _request(self, number: Any, method: str, params: Any) -> None:
        if self.state == "shutdown":
            self._refuse(number, INVALID_REQUEST, "the server has been shut down")
        elif method == "initialize":
            self._initialize(number, params)
        elif self.state == "new":
            self._refuse(number, NOT_INITIALIZED, "the first request must be `initialize`")
        elif method == "shutdown":
            self._cancel_all("the server is shutting down")
            self.documents = {}
            self.state = "shutdown"
            self._end_workers()
            self._send({"id": number, "result": None})
        elif method not in REQUESTS:
            self._refuse(number, NO_METHOD, f"this server does not know {method[:200]!r}")
        else:
            try:
                self._ask(number, method, params)
            except InvalidParams as error:
                self._refuse(number, INVALID_PARAMS, f"{method}: {error}")

    def _initialize(self, number: Any, params: Any) -> None:
        if self.state != "new":
            self._refuse(number, INVALID_REQUEST, "the server is initialized")
            return
        try:
            capabilities = member(params, "capabilities", dict)
            for part in ("workspace", "textDocument", "window", "general"):
                if capabilities.get(part) is not None:
                    member(capabilities, part, dict)
        except InvalidParams as error:
            self._refuse(number, INVALID_PARAMS, f"initialize: {error}")
            return
        editor = params.get("processId")
        if isinstance(editor, int) and not isinstance(editor, bool) and 0 < editor < 2**31:
            self.editor = editor
        self.initialize = {
            "processId": None,
            "rootUri": _address(params.get("rootUri")),
            "capabilities": {},
            "workspaceFolders": _folders(params.get("workspaceFolders")),
        }
        self.pulls = wants(capabilities, "textDocument", "diagnostic")
        self.refreshes = wants(capabilities, "workspace", "diagnostics", "refreshSupport")
        self.hints = wants(capabilities, "workspace", "inlayHint", "refreshSupport")
        self._hire()
        self.state = "ready"
        about = {"name": "rlx", "version": version("rlx")}
        able = offered(capabilities)
        self._send({"id": number, "result": {"capabilities": able, "serverInfo": about}})

    def _cancel_all(self, reason: str) -> None:
        for job in list(self.pending):
            self._fail(job, CANCELLED, reason)

    def _ask(self, number: Any, method: str, params: Any) -> None:
        if method in OF_WORKSPACE:
            self._ask_workspace(number, method, params)
            return
        if method in OF_ITEM:
            item = member(params, "item", dict)
            place(member(member(item, "selectionRange", dict), "start", dict))
            params = {**params, "textDocument": {"uri": member(item, "uri", str)}}
        if method == f"{_ASKS}selectionRange":
            for each in member(params, "positions", list):
                place(each)
        document = self._known(params)
        if method in AT_PLACE:
            place(member(params, "position", dict))
        if method in IN_RANGE:
            (start, end) = span(member(params, "range", dict))
            if start > end:
                params = {
                    **params,
                    "range": {"start": params["range"]["end"], "end": params["range"]["start"]},
                }
        if document.given_up == document.now.serial:
            if method == f"{_ASKS}diagnostic":
                report = {"kind": "full", "items": document.trouble}
                self._send({"id": number, "result": report})
                return
            self._refuse(number, FAILED, "this text could not be checked")
            return
        job = _Job(document, method, params)
        job.client = number
        document.jobs.append(job)
        self.pending.append(job)

    def _ask_workspace(self, number: Any, method: str, params: Any) -> None:
        if method == "workspace/symbol":
            member(params, "query", str)
        elif method == "completionItem/resolve":
            member(params, "label", str)
        elif not isinstance(params, dict):
            raise InvalidParams("expected an object")
        if method != "completionItem/resolve":
            opened = [d for d in self.documents.values() if d.open]
            params = {**params, "open": [{"uri": d.uri, "text": d.now.sent} for d in opened]}
        document = self.documents.setdefault(method, _Document(method))
        job = _Job(document, OF_WORKSPACE[method], params)
        job.client = number
        document.jobs.append(job)
        self.pending.append(job)

    def _known(self, params: Any) -> _Document:
        uri = member(member(params, "textDocument", dict), "uri", str)
        found = self.documents.get(uri)
        if found is None or not found.open:
            raise InvalidParams(f"the document {uri[:200]!r} is not open")
        return found

    def _notification(self, method: str, params: Any) -> None:
        if method == "exit":
            self.status = 0 if self.state == "shutdown" else 1
        elif self.state != "ready":
            pass
        elif method == "$/cancelRequest":
            self._cancel(member(params, "id", (int, str)))
        elif method == "textDocument/didOpen":
            self._opened(member(params, "textDocument", dict))
        elif method == "textDocument/didChange":
            document = self._known(params)
            text = edited(document.now.text, params.get("contentChanges"))
            self._changed(document, text, params["textDocument"].get("version"))
        elif method == "textDocument/didClose":
            document = self._known(params)
            document.open = False
            document.jobs.append(_Job(document, "textDocument/didClose"))
            document.jobs[-1].answered = True
            self._publish(document, [], None)

    def _opened(self, item: Message) -> None:
        uri, text = member(item, "uri", str), member(item, "text", str)
        document = self.documents.setdefault(uri, _Document(uri))
        language = item.get("languageId")
        document.language = language if isinstance(language, str) else ""
        document.open = True
        self._changed(document, text, item.get("version"))

    def _changed(self, document: _Document, text: str, version: object) -> None:
        self.serial += 1
        number = version if isinstance(version, int) and not isinstance(version, bool) else None
        document.now = _Text(self.serial, text, number)
        if document.jobs and not document.jobs[-1].method:
            document.jobs.pop()  # nobody has asked about the text before
        document.jobs.append(_Job(document))

    def _cancel(self, number: Any) -> None:
        for job in self.pending:
            if job.client == number and type(job.client) is type(number) and not job.answered:
                job.answered = True
                self._refuse(number, CANCELLED, "cancelled")
                self.pending.remove(job)
                if job.document.running is None or job is not job.document.running.job:
                    job.document.jobs.remove(job)
                return

    # What processes send

    def _answered(self, worker: _Process, message: Message | None) -> None:
        if worker not in self.workers:
            return
        if message is None:
            self._lost(worker, *_ending(worker.end(closed=True)))
        elif message.get("method") == "textDocument/publishDiagnostics":
            self._diagnosed(worker, message["params"])
        elif message.get("method") in (TAKEN, KNOWN, LAID):
            self._told(worker, message["method"], message["params"])
        elif message.get("id") == 0 and "method" not in message:
            worker.ready = time.monotonic()
        elif "method" in message:
            # every process says what it thinks of a folder; the editor hears it once
            said = str(message.get("params"))
            if "id" not in message and said not in self.told:
                if message["method"] == "window/showMessage":
                    self.told.add(said)
                self._send({"method": message["method"], "params": message.get("params")})
        elif worker.job is not None and message.get("id") == worker.job.number:
            job = worker.job
            self._done(worker)
            self._reply(job, message)

    def _diagnosed(self, worker: _Process, params: Message) -> None:
        serial = params.get("version")
        for document in self.documents.values():
            if document.inner == params["uri"] and document.open and document.now.serial == serial:
                document.checked = document.now.serial
                self._publish(document, _named(params["diagnostics"], document), serial)
        self._checks(worker, serial)

    def _told(self, worker: _Process, method: str, params: Message) -> None:
        """A process says how far it is with a long text."""
        for document in self.documents.values():
            if document.inner == params["uri"] and method != KNOWN:
                document.is_laid = method == LAID
        if method == TAKEN:
            self._checks(worker, params["version"])
        elif method == KNOWN and self.hints:
            self._refresh("workspace/inlayHint/refresh")

    def _checks(self, worker: _Process, serial: object) -> None:
        """A process has taken a text, and can be asked about it."""
        job = worker.job
        if job is not None and not job.method and job.version.serial == serial:
            self._done(worker)

    def _refresh(self, method: str) -> None:
        """Let the editor ask again."""
        self.serial += 1
        self._send({"id": f"refresh {self.serial}", "method": method})

    def _reply(self, job: _Job, message: Message) -> None:
        if job.answered:
            return
        job.answered = True
        self.pending.remove(job)
        part = "error" if "error" in message else "result"
        self._send({"id": job.client, part: _named(message.get(part), job.document)})

    def _done(self, worker: _Process) -> None:
        assert worker.job is not None
        worker.job.document.running = None
        worker.job = None

    # Processes

    def _watch(self) -> None:
        """End what takes too long, and the session if the editor is gone."""
        now = time.monotonic()
        for worker in list(self.workers):
            job = worker.job
            if job is None:
                continue
            if worker.busy_for() > self.limit:
                worker.end()
                words = f"this document was {exceeded(self.limit)}; {HELP}"
                self._lost(worker, words, "TIME")
            elif worker.busy_for() > STALE and any(not j.method for j in job.document.jobs):
                worker.end()
                self._lost(worker, "the text has changed", "")
        if self.editor is not None and _is_gone(self.editor):
            self.status = 1
        if self.closed_at is not None:
            open_jobs = any(d.jobs or d.running for d in self.documents.values())
            waits = open_jobs or self.pending
            if not waits or now - self.closed_at > DRAIN:
                self._cancel_all("the input was closed")
                self.status = 0 if self.state == "shutdown" else 1

    def _lost(self, worker: _Process, words: str, code: str) -> None:
        """A process has ended, or was ended: tell whom that concerns. `code`: that of the
        diagnostic; empty if the document is to be checked again.
        """
        self.workers.remove(worker)
        for document in self.documents.values():
            if document.home is worker:
                document.home, document.is_laid = None, True
        job = worker.job
        if job is None:
            return
        self._done(worker)
        document = job.document
        if not code:
            self._fail(job, MODIFIED, words)
            return
        self._fail(job, INTERNAL if code == "INTERNAL" else FAILED, words)
        document.given_up = job.version.serial
        for waiting in [
            j for j in document.jobs if j.version is job.version and j.client is not None
        ]:
            document.jobs.remove(waiting)
            self._fail(waiting, FAILED, words)
        if document.open and document.now is job.version:
            start = {"line": 0, "character": 0}
            found = {
                "range": {"start": start, "end": start},
                "message": words,
                "severity": 1,
                "code": code,
                "source": "rlx",
            }
            document.trouble = [found]
            self._publish(document, [found], document.now.serial)

    def _fail(self, job: _Job, code: int, words: str) -> None:
        if not job.answered:
            job.answered = True
            self.pending.remove(job)
            self._refuse(job.client, code, words)

    def _dispatch(self) -> None:
        """Give work to idle processes."""
        if self.state != "ready":
            return
        for document in list(self.documents.values()):
            while document.running is None and (job := document.next()) is not None:
                if job.method == "textDocument/didClose":
                    document.jobs.remove(job)
                    self._forget(document)
                    continue
                worker = self._chosen(document)
                if worker is None:
                    break
                document.jobs.remove(job)
                self._start(worker, job)
            if not document.open and not document.jobs and document.running is None:
                del self.documents[document.uri]

    def _chosen(self, document: _Document) -> _Process | None:
        """An idle process for a document."""
        home = document.home
        if home is not None and home.job is None:
            return home
        if home is not None and home.busy_for() < PATIENCE:
            return None
        idle = [worker for worker in self.workers if worker.job is None]
        if idle:
            return min(idle, key=lambda worker: len(worker.has))
        if len(self.workers) >= MOST or any(w.busy_for() < PATIENCE for w in self.workers):
            return None
        return self._hire()

    def _hire(self) -> _Process:
        self.workers.append(_Process(self.events, self.initialize, self.words))
        return self.workers[-1]

    def _start(self, worker: _Process, job: _Job) -> None:
        document, version = job.document, job.version
        document.home = document.running = worker
        worker.job, worker.since = job, time.monotonic()
        if document.uri in OF_WORKSPACE:
            self.serial += 1
            job.number = self.serial
            worker.send({"id": job.number, "method": job.method, "params": job.params})
            return
        before = worker.has.get(document.inner)
        if before is not version:
            identifier = {"uri": document.inner, "version": version.serial}
            if before is not None:
                start, end = difference(before.sent, version.sent)
                behind = len(before.sent) - len(version.sent) + end
                change = {"start": start, "end": behind, "text": version.sent[start:end]}
                params: Message = {"textDocument": identifier, "change": change}
                worker.send({"method": "textDocument/didChange", "params": params})
            else:
                item = {**identifier, "languageId": document.language, "text": version.sent}
                worker.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
            worker.has[document.inner] = version
        elif not job.method:
            self._done(worker)
        if job.method:
            self.serial += 1
            job.number = self.serial
            identifier = {**job.params["textDocument"], "uri": document.inner}
            asked = {**job.params, "textDocument": identifier}
            if job.method in OF_ITEM:
                asked["item"] = {**job.params["item"], "uri": document.inner}
            worker.send({"id": job.number, "method": job.method, "params": asked})

    def _forget(self, document: _Document) -> None:
        for worker in self.workers:
            if worker.has.pop(document.inner, None) is not None:
                params = {"textDocument": {"uri": document.inner}}
                worker.send({"method": "textDocument/didClose", "params": params})

    # What the editor is sent

    def _publish(self, document: _Document, found: list[Any], serial: int | None) -> None:
        if self.pulls:  # it asks for them; that there are others now is all that it is told
            if self.refreshes and serial is not None and document.told == serial:
                self._refresh("workspace/diagnostic/refresh")
            document.told = -1 if serial is None else serial
            return
        params: Message = {"uri": document.uri, "diagnostics": found}
        if serial is not None and document.now.theirs is not None:
            params["version"] = document.now.theirs
        self._send({"method": "textDocument/publishDiagnostics", "params": params})

    def _log(self, words: str) -> None:
        params = {"type": 2, "message": f"rlx: {words}"}
        self._send({"method": "window/logMessage", "params": params})

    def _refuse(self, number: Any, code: int, words: str) -> None:
        self._send({"id": number, "error": {"code": code, "message": words}})

    def _send(self, message: Message) -> None:
        data = framed({"jsonrpc": "2.0", **message})
        while data:
            data = data[os.write(self.writes, data) :]


def _ending(status: int | None) -> tuple[str, str]:
    """The message about a process that has ended by itself, and the code of the diagnostic."""
    if status is None:
        return "this is a bug in rlx: its process closed its pipe", "INTERNAL"
    killed = from_outside(status)
    if killed is not None:
        return f"this document was not checked: {killed}", "KILLED"
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"this is a bug in rlx: its process ended with {how}", "INTERNAL"


def _address(found: object) -> str | None:
    """An address that an editor gives for a folder."""
    return found if isinstance(found, str) else None


def _folders(found: object) -> list[Message]:
    """The folders that an editor shows, as far as they are in order."""
    listed = found if isinstance(found, list) else []
    return [
        {"uri": each["uri"], "name": each["name"]}
        for each in listed
        if isinstance(each, dict)
        and isinstance(each.get("uri"), str)
        and isinstance(each.get("name"), str)
    ]


def _named(found: Any, document: _Document) -> Any:
    """The message of a process, with the document's own address."""
    if document.inner == document.uri:
        return found
    if isinstance(found, RawJson):
        found = json.loads(found)
    if isinstance(found, dict):
        return {
            (document.uri if k == document.inner else k): _named(v, document)
            for k, v in found.items()
        }
    if isinstance(found, list):
        return [_named(each, document) for each in found]
    return document.uri if found == document.inner else found


def _is_gone(process: int) -> bool:
    """Whether there is no such process."""
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
