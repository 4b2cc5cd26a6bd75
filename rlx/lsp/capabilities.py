"""The capabilities of the server, as the answer to `initialize`."""

from __future__ import annotations

from typing import Any

TYPES = (
    *("namespace", "class", "function", "parameter", "variable", "typeParameter", "property"),
    *("type", "decorator", "keyword", "string", "number"),
)
MODIFIERS = ("declaration", "readonly", "defaultLibrary")
"""The kinds of words that semantic tokens tell apart."""

FIX_ALL = "source.fixAll.rlx"
"""The kind of the action that mends everything."""
COMPLETES = (".", "(", ",", '"', "@")
"""The characters after which an editor asks for completions."""

TAKEN, KNOWN, LAID = "rlx/taken", "rlx/known", "rlx/laid"
"""The messages of a process about a long text: that it may be asked about, that it has been
checked, and that it has been laid out.
"""


def capabilities(client: dict[str, Any]) -> dict[str, Any]:
    """The capabilities for a client with these ones."""
    can_prepare = wants(client, "textDocument", "rename", "prepareSupport")
    return {
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": True, "change": 2, "save": False},
        "completionProvider": {"triggerCharacters": list(COMPLETES), "resolveProvider": True},
        "hoverProvider": True,
        "signatureHelpProvider": {"triggerCharacters": ["(", ","], "retriggerCharacters": ["="]},
        "definitionProvider": True,
        "typeDefinitionProvider": True,
        "referencesProvider": True,
        "documentHighlightProvider": True,
        "documentSymbolProvider": True,
        "workspaceSymbolProvider": True,
        "codeActionProvider": {"codeActionKinds": ["quickfix", FIX_ALL]},
        "codeLensProvider": {"resolveProvider": False},
        "documentFormattingProvider": True,
        "documentRangeFormattingProvider": True,
        "renameProvider": {"prepareProvider": True} if can_prepare else True,
        "foldingRangeProvider": True,
        "selectionRangeProvider": True,
        "linkedEditingRangeProvider": True,
        "callHierarchyProvider": True,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": list(TYPES), "tokenModifiers": list(MODIFIERS)},
            "range": True,
            "full": {"delta": True},
        },
        "inlayHintProvider": {"resolveProvider": False},
        "diagnosticProvider": {
            "identifier": "rlx",
            "interFileDependencies": False,
            "workspaceDiagnostics": True,
        },
        "workspace": {"workspaceFolders": {"supported": True}},
    }


def wants(client: dict[str, Any], *path: str) -> bool:
    """Whether a client says that it has something."""
    found: Any = client
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return bool(found) or found == {}
