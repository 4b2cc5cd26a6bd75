"""The server: the requests of the Language Server Protocol, answered by :mod:`rlx.lsp.document`."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import re
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, suppress
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from rlx.checker.check import Report
from rlx.checker.driver.check_files import crashed
from rlx.checker.driver.mistakes import keep_traceback
from rlx.checker.driver.time_limit import FORKS, Forked, Lost, exceeded, seconds
from rlx.checker.render.files import Obligations
from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.dialects import DEFAULT
from rlx.grammar.lines import line_end
from rlx.grammar.nodes.node import Span
from rlx.grammar.print.formatting import format_text
from rlx.grammar.streams import visible
from rlx.lsp.body import KnownBody
from rlx.lsp.capabilities import FIX_ALL, KNOWN, LAID, TAKEN
from rlx.lsp.cut import cut, mentioned, recut
from rlx.lsp.document import Document, Hint, RenameError
from rlx.lsp.faces import checked, of_report, report_on
from rlx.lsp.framing import framed
from rlx.lsp.hover import hover
from rlx.lsp.incremental import Checker, derived
from rlx.lsp.layout import Learned, format_edits, learn, remember
from rlx.lsp.positions import offset, position, range_of
from rlx.lsp.statements import SMALL, Statements
from rlx.lsp.structure import written_tokens
from rlx.lsp.texts import InvalidParams, member
from rlx.lsp.vocabulary import describe
from rlx.lsp.window import Window, window
from rlx.spec import rules

T = TypeVar("T")

LIMIT = 60.0
"""Seconds that a check of a whole text may take."""

PAUSE = 0.1
"""Seconds without an edit after which what questions need is made ready."""

OLD = 20
"""How often Python has looked through its new objects before it looks through all of them, which
takes a while: only when no message waits.
"""

QUIET = 0.6
"""Seconds without an edit after which a text that was checked in part is checked whole."""

_RELAX = re.compile(r"\btvm\b|\brelax\b|\bir_module\b|\bprim_func\b|@[ \t]*\w+\.func|\b[RIT]\.\w")
"""A sign of Relax in a Python text."""

_MEANT = "did you mean "

_SEVERITY = {"error": 1, "warning": 2, "note": 3}
_WARNING = 2
_QUICK_FIX = "quickfix"
_TYPE = 1
"""The kind of an inlay hint."""

INVALID_PARAMS, INTERNAL = -32602, -32603


if TYPE_CHECKING:
    from rlx.checker.driver.configuration import ProjectSettings

Params = dict[str, Any]
"""The parameters of a message, checked by the front: places, ranges and addresses are in order."""

Handler = Callable[[Params], Any]


class OpenText:
    """A text that an editor has open.

    Attributes
    ----------
    waits
        Whether it is long, and nothing is known of it before it has been checked.
    """

    def __init__(self, path: str, target: str | None = None) -> None:
        self.checker = Checker(path, target)
        self.document = Document("", path, target=target)
        self.told = 0
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.version: int | None = None
        self.settling: asyncio.Task[None] | None = None
        self.laying: asyncio.Task[None] | None = None
        self.waits = False
        self.statements: dict[str, Statements] = {}
        self.windows: dict[object, Window] = {}
        self.answers: dict[str, Any] = {}
        self.tokens: tuple[list[str], str] = ([], "")

    def window(self, start: int, end: int) -> Window:
        """The window on a stretch of the text: of a long one that was not checked whole, only the
        functions there are checked.
        """
        nothing = Window(frozenset([-1]), self.document, None)
        if self.waits:
            part = self.part(start, end)
            return part if len(part.document.source.text) < SMALL else nothing
        return nothing if self.document.is_checked else self.part(start, end)

    def body(self, start: int, end: int) -> tuple[KnownBody, int] | None:
        """The statements of the long function that has a stretch of the text, if nothing in them
        was edited since they were checked, and where they begin.
        """
        cut = self.checker.cut
        if self.waits or cut is None or cut.text != self.document.source.text:
            return None
        at = [
            n for n, each in enumerate(cut.pieces) if each.span[0] <= end and start < each.span[1]
        ]
        known = self.checker.bodies.get(at[0]) if len(at) == 1 else None
        if known is None or known.body is None:
            return None
        piece = cut.pieces[at[0]]
        first = piece.span[0] + len(piece.head)
        same = known.body.statements.text == cut.text[first : piece.span[1]]
        return (known.body, first) if same else None

    def show(self, document: Document) -> None:
        """Take another version."""
        self.document = document
        self.windows, self.answers = {}, {}

    def settle(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work when no message waits, in place of what was done so before."""
        if self.settling is not None:
            self.settling.cancel()
        self.settling = asyncio.get_running_loop().create_task(work)

    def lay_out(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for the layout."""
        self.laying = asyncio.get_running_loop().create_task(work)

    def kept(self, name: str, make: Callable[[Document], T]) -> T:
        """An answer about this version of the text, made once."""
        if name not in self.answers:
            self.answers[name] = make(self.document)
        made: T = self.answers[name]
        return made

    def prepare(self) -> Iterator[object]:
        """Find out, step by step, what edits and questions about a long text will need."""
        document = self.document
        if len(document.source.text) < SMALL:
            return
        heads = () if self.checker.cut is None else self.checker.cut.pieces
        for number, known in self.checker.bodies.items() if heads else ():
            if known.body is not None:
                yield mentioned(heads[number].head, heads[number].at)
                yield known.body.statements.binders
                yield known.body.statements.users
            yield None
        yield from written_tokens(document)
        if document.is_checked:
            yield document.constructs
            yield document.bound

    def part(self, start: int, end: int) -> Window:
        """The functions in a stretch of the text, as a text of their own."""
        asked = start, end
        if asked not in self.windows:
            known = self.document.cut if self.waits else self.checker.cut
            made = window(known, self.document, start, end, self.checker.bodies)
            self.windows[asked] = self.windows.setdefault(made.key, made)
        return self.windows[asked]


class Server:
    """One editor's session.

    Parameters
    ----------
    trusted
        Whether the modules that a project's configuration names are imported even if the user's own
        does not trust the project.
    isolated
        Whether the configuration of projects is ignored.

    Attributes
    ----------
    write
        Sends bytes.
    handlers
        What answers each method.
    """

    def __init__(self, trusted: bool = False, isolated: bool = False) -> None:
        self.trusted, self.isolated = trusted, isolated
        self.write: Callable[[bytes], object] = len
        self.handlers: dict[str, Handler] = {}
        self.roots: list[str | None] = []
        self.texts: dict[str, OpenText] = {}
        self.targets: dict[str, str | None] = {}
        self.projects: dict[str, ProjectSettings] = {}
        self.warming: asyncio.Task[None] | None = None

    def feature(self, method: str) -> Callable[[Handler], Handler]:
        """Have a function answer a method."""

        def add(handler: Handler) -> Handler:
            self.handlers[method] = handler
            return handler

        return add

    def handle(self, message: dict[str, Any]) -> None:
        """Answer a message."""
        answer: dict[str, Any] = {"id": message.get("id")}
        try:
            answer["result"] = self.handlers[message["method"]](message.get("params") or {})
        except InvalidParams as error:
            answer["error"] = {"code": INVALID_PARAMS, "message": str(error)}
        except Exception as error:
            if "id" not in message:
                raise
            words = f"this is a bug in rlx: {type(error).__name__}: {error}"
            answer["error"] = {"code": INTERNAL, "message": visible(words)}
        if "id" in message:
            self.write(framed(answer))

    def notify(self, method: str, params: Params) -> None:
        """Tell something that was not asked."""
        self.write(framed({"method": method, "params": params}))

    def configure(self, folder: str) -> str | None:
        """Take over the operators and the target of the project of a folder; what the user should
        know.
        """
        from rlx.checker.driver.configuration import (
            ConfigurationError,
            configuration,
            without_untrusted,
        )
        from rlx.operators.external import OperatorsError, load

        try:
            project, note = without_untrusted(configuration(folder), self.trusted)
            self.targets[folder] = project.target
            self.projects[folder] = project
            load(project.operators, project.allowed, project.root)
        except (ConfigurationError, OperatorsError) as error:
            return str(error)
        if note is None:
            return None
        return f"rlx: {note}. See docs/how-to/configure.md to trust this folder."

    def text(self, uri: str) -> OpenText:
        """The open text of that address."""
        found = self.texts.get(uri)
        if found is None:
            path = path_of(uri)
            found = self.texts[uri] = OpenText(path, self._target(path))
        return found

    def _target(self, path: str) -> str | None:
        """The version of TVM that the innermost project around a file is meant for."""
        around = [root for root in self.targets if path.startswith(os.path.join(root, ""))]
        return self.targets[max(around, key=len)] if around else None

    def changed(self, uri: str, source: str, version: int | None = None) -> None:
        """A text is new, or was edited: check it, and tell what is wrong with it."""
        found = self.text(uri)
        found.version = version
        path, target = found.checker.path, found.checker.target
        whole, report = found.checker.full, None
        if found.checker.path.endswith(".py") and not _RELAX.search(source):
            found.diagnostics = ()  # there is much Python without any Relax
        else:
            try:
                said = found.checker.step(source)
                if said is None and FORKS and len(source) >= SMALL:
                    self.postpone(uri, found, Source(source, path))
                    return
                found.diagnostics = found.checker.check(source) if said is None else said
                report = found.checker.report
            except Exception as error:  # noqa: BLE001 - a text without diagnostics seems legal
                failed = crashed(source, f"{type(error).__name__}: {error}", keep_traceback())
                found.diagnostics = failed.diagnostics
        parts = found.checker.known(source)
        found.waits = False
        found.show(Document(source, path, report, target, parts, found.statements))
        self.tell(uri)
        partly = found.checker.full == whole
        found.settle(self.settle(uri, found, partly))

    def postpone(self, uri: str, found: OpenText, source: Source) -> None:
        """Check a long text of which nothing is known in another process: until that is done,
        questions are answered without it.
        """
        before = found.document.cut
        nothing = Report(source, (), Obligations(0, 0, 0), (), {})
        parts = recut(before, source.text)
        known = nothing, found.checker.target, parts, found.statements
        found.show(Document(source.text, source.path, *known))
        found.diagnostics = ()
        self.notify(TAKEN, {"uri": uri, "version": found.version})
        if not found.waits:
            found.waits = True
            found.settle(self.check_aside(uri, found))

    async def check_aside(self, uri: str, found: OpenText) -> None:
        """Check a long text, and those that it becomes meanwhile, in another process."""
        with ExitStack() as until:
            until.callback(self.notify, LAID, {"uri": uri})
            while found.waits:
                await asyncio.sleep(PAUSE)
                with ExitStack() as ending:
                    process = forked(_all_of(found), ending)
                    ready = asyncio.ensure_future(self.get_ready(found))
                    ending.callback(ready.cancel)
                    if await self.check_once(uri, found, process):
                        until.pop_all()
                        found.lay_out(self.lay_out(uri, process, ending.pop_all()))
        await self.get_ready(found)

    async def check_once(self, uri: str, found: OpenText, process: Forked[Any]) -> bool:
        """Take over what a process says of a long text; whether it goes on to lay it out."""
        path, target, source = found.checker.path, found.checker.target, found.document.source
        made = await answer_of(process)
        said: tuple[Diagnostic, ...] | None
        if isinstance(made, Lost):
            said = _trouble(made)
        else:
            said = found.checker.remember(source.text, *made)
        if found.document.source is not source:
            source = found.document.source
            said = found.checker.step(source.text)
        if said is None:
            return False  # it was edited, and has to be checked anew
        found.waits, found.diagnostics = False, said
        parts = found.checker.known(source.text) or found.document.cut
        found.show(Document(source.text, path, None, target, parts, found.statements))
        self.tell(uri)
        self.notify(KNOWN, {"uri": uri})
        return not isinstance(made, Lost)

    async def lay_out(self, uri: str, process: Forked[Any], ending: ExitStack) -> None:
        """Wait for the layout of a text, from which those of later versions follow."""
        with ending:
            made = await answer_of(process)
            if isinstance(made, Learned):
                remember(made)
            self.notify(LAID, {"uri": uri})

    async def settle(self, uri: str, found: OpenText, partly: bool) -> None:
        """When the user stops typing, get ready for questions, and check the whole text if it was
        checked in part.
        """
        await asyncio.sleep(PAUSE)
        await self.get_ready(found)
        if not partly:
            return
        await asyncio.sleep(QUIET - PAUSE)
        source, path, target = found.document.source, found.checker.path, found.checker.target
        with ExitStack() as ending:
            made = await answer_of(forked(lambda _: checked(source.text, path, target), ending))
        if isinstance(made, Lost):  # what is known of its parts has to do
            return
        if self.texts.get(uri) is found and found.document.source is source:
            found.diagnostics = found.checker.remember(source.text, made)
            self.tell(uri)

    async def get_ready(self, found: OpenText) -> None:
        """Find out what questions about a text will need, between other messages."""
        for _ in found.prepare():
            await asyncio.sleep(0)
        if gc.get_count()[1] > OLD:
            gc.collect()

    async def warm_up(self) -> None:
        """Read the parts of the program that first answers need, between messages."""
        for make in _FIRST:
            await asyncio.sleep(0)
            make()

    def tell(self, uri: str) -> None:
        """Send the diagnostics of a text."""
        found = self.texts[uri]
        found.told += 1
        said = {"uri": uri, "version": found.version, "diagnostics": self.shown(uri)}
        self.notify("textDocument/publishDiagnostics", said)

    def shown(self, uri: str) -> list[dict[str, Any]]:
        """The diagnostics of a text as an editor shows them."""
        found = self.text(uri)
        source = found.document.source
        return [
            diagnostic_of(d, source, uri)
            for d in found.diagnostics
            if d.code != "PARSE-nothing"  # most Python that one edits has no Relax in it
        ]

    def place(self, params: Params) -> tuple[Document, int]:
        """The text that is asked about, and the offset."""
        document = self.text(params["textDocument"]["uri"]).document
        return document, offset_of(document.source, params["position"])

    def view(self, params: Params) -> tuple[Window, int, Document]:
        """The window around the place of a request, the offset, and the whole text."""
        document, at = self.place(params)
        return self.text(params["textDocument"]["uri"]).window(at, at), at, document

    def files(self) -> Iterator[Source]:
        """The programs in the folders of the workspace, without what a project excludes."""
        from rlx.checker.driver.configuration import ProjectSettings
        from rlx.checker.driver.sources import find, read, text_of

        for folder in self.folders():
            project = self.projects.get(folder, ProjectSettings())
            for path in find([folder], project.excludes)[0]:
                with suppress(OSError, UnicodeError):
                    yield Source(text_of(read(path), path).replace("\r\n", "\n"), path)

    def folders(self) -> list[str]:
        """The folders that the editor shows."""
        return list(filter(None, map(_folder, self.roots)))

    def checked(self, source: Source) -> tuple[Diagnostic, ...]:
        """The diagnostics of a text that is not open."""
        try:
            return _checked_once(source.text, source.path, self._target(source.path)).diagnostics
        except Exception as error:  # noqa: BLE001 - a text without diagnostics seems legal
            words = f"{type(error).__name__}: {error}"
            return crashed(source.text, words, keep_traceback()).diagnostics

    def forget(self, uri: str) -> None:
        """A text was closed."""
        found = self.texts.pop(uri, None)
        for task in () if found is None else filter(None, (found.settling, found.laying)):
            task.cancel()


_checked_once = lru_cache(maxsize=256)(checked)


_TRIAL = """@R.function
def f(x: R.Tensor(("n", 4), "float32")):
    y = R.add(x, x)
    return y
"""
_FIRST = (
    partial(report_on, _TRIAL, ""),
    rules,
    partial(import_module, "rlx.checker.why.explain"),
    partial(describe, "R.add"),
    partial(format_text, _TRIAL, "", DEFAULT),
)
"""The data for the first answers, read once."""


def _all_of(found: OpenText) -> Callable[[str], Any]:
    """The work of a process on a long text: first to check it, then to lay it out."""
    text, path, target = found.document.source.text, found.checker.path, found.checker.target

    def results() -> Iterator[object]:
        at, report = cut(text), report_on(text, path, target)
        bodies = derived(at, report, range(len(at.pieces)))
        yield of_report(report), {number: each.body for number, each in bodies.items()}
        yield learn(Document(text, path, report, target, at))

    made = results()
    return lambda _: next(made)


def _trouble(lost: Lost) -> tuple[Diagnostic, ...]:
    """The diagnostic for a text whose check has not ended."""
    if lost.cause == "crashed":
        return crashed(lost.path, lost.reason, lost.traceback).diagnostics
    late = lost.cause == "late"
    words = f"this document was {'' if late else 'not checked: '}{lost}"
    return (Diagnostic("TIME" if late else "KILLED", "error", words, None),)


def forked(work: Callable[[str], T], ending: ExitStack) -> Forked[T]:
    """A process that does some work while the editor is answered."""
    made = Forked(work)
    ending.callback(_end, made)
    return made


def _end(process: Forked[Any]) -> None:
    with suppress(ChildProcessError):  # it has ended
        process.end()


async def answer_of(process: Forked[T]) -> T | Lost:
    """The next answer of a process."""
    loop, end = asyncio.get_running_loop(), process.answers.fileno()
    done = asyncio.Event()
    process.give("")
    loop.add_reader(end, done.set)
    try:
        await asyncio.wait_for(done.wait(), seconds(LIMIT))
    except TimeoutError:
        return Lost(process.path, exceeded(seconds(LIMIT)), "late")
    finally:
        loop.remove_reader(end)
    try:
        return process.answer()
    except (EOFError, OSError, pickle.UnpicklingError):
        return Lost(process.path, *process.ended())


def add_projects(server: Server) -> None:
    """The folders that the editor shows."""

    @server.feature("initialize")
    def begun(params: Params) -> None:
        shown = [each["uri"] for each in params.get("workspaceFolders") or ()]
        server.roots = list(dict.fromkeys(shown)) or [params.get("rootUri")]
        for root in () if server.isolated else server.folders():
            said = server.configure(root)
            if said is not None:
                server.notify("window/showMessage", {"type": _WARNING, "message": said})
        server.warming = asyncio.get_running_loop().create_task(server.warm_up())


def path_of(uri: str) -> str:
    """The path in an address."""
    return unquote(urlsplit(uri).path)


def _folder(uri: str | None) -> str | None:
    """The folder on this machine that an address names."""
    try:
        named = urlsplit(uri or "")
    except ValueError:
        return None
    path = unquote(named.path)
    return path if named.scheme == "file" and os.path.isabs(path) and "\0" not in path else None


def add_texts(server: Server) -> None:
    """Texts that are opened, edited and closed."""

    @server.feature("textDocument/didOpen")
    def opened(params: Params) -> None:
        item = params["textDocument"]
        server.changed(item["uri"], item["text"], item["version"])

    @server.feature("textDocument/didChange")
    def edited(params: Params) -> None:
        change, item = params["change"], params["textDocument"]  # in offsets
        text = server.text(item["uri"]).document.source.text
        text = f"{text[: change['start']]}{change['text']}{text[change['end'] :]}"
        server.changed(item["uri"], text, item["version"])

    @server.feature("textDocument/didClose")
    def closed(params: Params) -> None:
        server.forget(params["textDocument"]["uri"])


def add_places(server: Server) -> None:
    """Add the requests for a place: its meaning, its definition and its uses."""

    @server.feature("textDocument/hover")
    def shown(params: Params) -> Params | None:
        window, at, document = server.view(params)
        part = partial(server.text(params["textDocument"]["uri"]).part, at, at)
        found = hover(document, window, at, part)
        if found is None:
            return None
        return {"contents": markdown(found[0]), "range": range_in(document.source, found[1])}

    @server.feature("textDocument/definition")
    def definition(params: Params) -> Params | None:
        document, at = server.place(params)
        found = document.definition(at)
        return None if found is None else location(params, document, found)

    @server.feature("textDocument/references")
    def references(params: Params) -> list[Params]:
        document, at = server.place(params)
        declared = bool(member(params, "context", dict).get("includeDeclaration"))
        return [location(params, document, span) for span in document.references(at, declared)]


def add_edits(server: Server) -> None:
    """Changes of the text: names, layout, what mends a diagnostic."""

    @server.feature("textDocument/prepareRename")
    def can_rename(params: Params) -> Params | None:
        document, at = server.place(params)
        try:
            return range_in(document.source, document.can_rename(at).span)
        except RenameError:
            return None

    @server.feature("textDocument/rename")
    def rename(params: Params) -> Params:
        document, at = server.place(params)
        try:
            edits = document.rename(at, member(params, "newName", str))
        except RenameError as error:
            raise InvalidParams(visible(str(error))) from None
        return workspace_edit(params["textDocument"]["uri"], document.source, edits)

    @server.feature("textDocument/formatting")
    def formatting(params: Params) -> list[Params] | None:
        found = server.text(params["textDocument"]["uri"])
        if any(d.rule == "PARSE" and d.is_error for d in found.diagnostics):
            return None  # what cannot be read is not formatted
        return text_edits(found.document.source, found.kept("layout", format_edits)) or None

    @server.feature("textDocument/codeAction")
    def actions(params: Params) -> list[Params]:
        found = server.text(params["textDocument"]["uri"])
        context = member(params, "context", dict)
        only = member(context, "only", list) if context.get("only") is not None else None

        def wanted(kind: str) -> bool:
            return only is None or any(f"{kind}.".startswith(f"{each}.") for each in only)

        made = list(code_actions(found, params)) if wanted(_QUICK_FIX) else []
        short = len(found.document.source.text) < SMALL  # each edit means a check of all of it
        if wanted(FIX_ALL) and (only is not None or short):
            made += fix_all(found, params["textDocument"]["uri"])
        return made


def add_hints(server: Server) -> None:
    """Add the requests for hints at names."""

    @server.feature("textDocument/inlayHint")
    def hints(params: Params) -> list[Params]:
        open_text = server.text(params["textDocument"]["uri"])
        source = open_text.document.source
        first, last = (params["range"][end]["line"] for end in ("start", "end"))
        ends = offset(source, (first, 0)), offset(source, (last + 1, 0))
        found = []
        for hint in _known_hints(open_text, *ends) or _derived_hints(open_text, *ends):
            line, column = position(source, hint.offset)
            if first <= line <= last:
                place = {"line": line, "character": column}
                found.append({"position": place, "label": hint.text, "kind": _TYPE})
        return found


def _known_hints(text: OpenText, start: int, end: int) -> list[Hint]:
    """Hints in a long function of which all types are known; none if they must be derived."""
    found = text.body(start, end)
    if found is None:
        return []
    known, first = found
    hints = known.hints(start - first, end - first) or ()
    return [Hint(first + at, visible(f": {info}")) for at, info in hints]


def _derived_hints(text: OpenText, start: int, end: int) -> list[Hint]:
    window = text.window(start, end)
    found = window.document.hints(window.into(start), window.into(end))
    return [Hint(window.back((each.offset, each.offset))[0], each.text) for each in found]


def offset_of(source: Source, at: Params) -> int:
    """The offset of a position of the protocol."""
    return offset(source, (at["line"], at["character"]))


def range_in(source: Source, span: Span) -> Params:
    """A place as the protocol writes it."""
    (first, start), (last, end) = range_of(source, span)
    return {
        "start": {"line": first, "character": start},
        "end": {"line": last, "character": end},
    }


def location(params: Params, document: Document, span: Span) -> Params:
    """A place in the text that is asked about."""
    return {"uri": params["textDocument"]["uri"], "range": range_in(document.source, span)}


def markdown(text: str) -> Params:
    """A text with marks."""
    return {"kind": "markdown", "value": text}


def text_edits(source: Source, edits: list[Edit]) -> list[Params]:
    """Edits as the protocol writes them."""
    return [{"range": range_in(source, edit.span), "newText": edit.text} for edit in edits]


def diagnostic_of(found: Diagnostic, source: Source, uri: str) -> Params:
    """A diagnostic as an editor shows it."""
    lines = [visible(found.message), *(f"note: {visible(note)}" for note in found.notes)]
    if found.counterexample:
        values = ", ".join(f"{name} = {value}" for name, value in found.counterexample.items())
        lines.append(visible(f"counterexample: {values}"))
    if found.help:
        lines.append(visible(f"help: {found.help}"))
    return {
        "range": range_in(source, found.span or (0, 0)),
        "message": "\n".join(lines),
        "severity": _SEVERITY[found.severity],
        "code": found.code,
        "source": "rlx",
        "relatedInformation": [
            {
                "location": {"uri": uri, "range": range_in(source, label.span)},
                "message": visible(label.message),
            }
            for label in found.related
        ],
    }


def workspace_edit(uri: str, source: Source, edits: list[Edit]) -> Params:
    """Edits of one text."""
    return {"changes": {uri: text_edits(source, edits)}}


def code_actions(found: OpenText, params: Params) -> Iterator[Params]:
    """The edits of diagnostics in a range, and comments that silence them."""
    source, uri = found.document.source, params["textDocument"]["uri"]
    first, last = (params["range"][end]["line"] for end in ("start", "end"))
    for diagnostic in found.diagnostics:
        if diagnostic.span is None:
            continue
        start, end = range_of(source, diagnostic.span)
        if start[0] > last or end[0] < first:
            continue
        about = {"kind": _QUICK_FIX, "diagnostics": [diagnostic_of(diagnostic, source, uri)]}
        if diagnostic.edit is not None:
            title = diagnostic.help or f"fix {diagnostic.code}"
            if title.startswith(_MEANT):
                title = f"change to {title[len(_MEANT) :].removesuffix('?')}"
            edit = workspace_edit(uri, source, [diagnostic.edit])
            preferred = diagnostic.edit.is_safe
            yield {"title": visible(title), **about, "isPreferred": preferred, "edit": edit}
        if diagnostic.rule not in ("PARSE", "IGNORE"):
            behind = line_end(source.text, diagnostic.span[0])
            comment = Edit((behind, behind), f"  # rlx: ignore[{diagnostic.code}]")
            edit = workspace_edit(uri, source, [comment])
            yield {"title": f"ignore {diagnostic.code} here", **about, "edit": edit}


def fix_all(found: OpenText, uri: str) -> Iterator[Params]:
    """The action that applies every safe edit after which the text checks better."""
    from rlx.checker.fixing import mended

    source, checker = found.document.source, found.checker.twin()

    def check(text: str, path: str) -> Report:
        return Report(Source(text, path), checker.check(text), Obligations(0, 0, 0), (), {})

    if any(d.edit is not None and d.edit.is_safe for d in found.diagnostics):
        text = mended(source.text, source.path, check, unsafe=False).text
        if text != source.text:
            edit = workspace_edit(uri, source, [Edit((0, len(source.text)), text)])
            yield {"title": "fix all that rlx can fix", "kind": FIX_ALL, "edit": edit}
