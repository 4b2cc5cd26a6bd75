"""The graph of a module, or of two modules beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from rlx.grammar.nodes.ast import IRModule
from rlx.graphs.items import FunctionItems, ModuleItems, function_items

if TYPE_CHECKING:
    from rlx.checker.check import Report


class Graph(ModuleItems):
    """The dataflow graph of a module, or of two to compare."""

    def html(self) -> str:
        """A page with pictures, zoom and search; it loads nothing."""
        from rlx.graphs.page import page

        return page(self)

    def svg(self) -> str:
        """One picture of all functions; long functions are folded."""
        from rlx.graphs.whole import whole_picture

        return whole_picture(self)

    def dot(self) -> str:
        """The graph in the language of Graphviz, unfolded."""
        from rlx.graphs.dot import dot

        return dot(self)

    def _repr_html_(self) -> str:
        from html import escape

        return (
            '<iframe title="The dataflow graph" style="width: 100%; height: 640px; border: 1px solid'
            f' #8888" sandbox="allow-scripts" srcdoc="{escape(self.html())}"></iframe>'
        )


def graph(module: IRModule) -> Graph:
    """The graph of a module.

    Raises
    ------
    IllFormedError
        If the module has errors.
    """
    from rlx.checker.check import IllFormedError, check_alone

    report = check_alone(module)
    if not report.ok:
        raise IllFormedError(report)
    return of_report(report, report.modules[0])


def of_report(report: Report, module: IRModule) -> Graph:
    """The graph of a module of a report without errors."""
    functions = [
        function_items(gv.name_hint, function, report.info, report.source)
        for gv, function in module.relax_functions.items()
    ]
    prim_funcs = {gv.name_hint: str(report.info.get(gv, "")).strip() for gv in module.prim_funcs}
    return Graph(report.source.path or module.name, functions, prim_funcs)


def compared(ours: tuple[Report, IRModule], theirs: tuple[Report, IRModule]) -> Graph:
    """The graphs of two modules, marked with their differences."""
    from rlx.refine.differences import differences

    found = {f.name: f for f in differences(ours[1], theirs[1])}
    one, other = of_report(*ours), of_report(*theirs)
    for made, change in ((one, "removed"), (other, "added")):
        for function in made.functions:
            difference = found[function.name]
            function.status = difference.status
            lines = difference.removed if change == "removed" else difference.added
            shared = set(difference.removed) & set(difference.added)
            _mark(function, lines, change, shared, difference.status.startswith("only"))
            if change == "added":
                known = {b: a for a, b in difference.equal}
                for item in function.items:
                    if item.change and item.name in known:
                        item.note = f"equals {known[item.name]} of A"
    one.other = other
    return one


def _mark(
    function: FunctionItems,
    lines: Sequence[str],
    change: str,
    shared: AbstractSet[str],
    whole: bool,
) -> None:
    """Mark the items whose lines only one module has. A line that both have is carried: it uses a
    value that differs.
    """
    of_names = {line.partition(" = ")[0].strip(): line for line in lines if " = " in line}
    head = next((line for line in lines if line.startswith("(")), None)
    returned = next((line for line in lines if line.startswith("return ")), None)
    last = function.items[-1].key
    for item in function.items:
        line = of_names.get(item.name)
        if item.kind == "parameter" and item.group == 0:
            line = head
        elif item.key == last:
            line = returned
        if whole or line is not None:
            item.change = "carried" if line in shared else change
