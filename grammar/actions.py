"""The actions of the grammar by their names: which object reads what."""

from __future__ import annotations

from functools import cache

from rlx.grammar import (
    forms_call,  # noqa: F401 - these register the forms they know
    forms_composed,  # noqa: F401
    forms_info,  # noqa: F401
    forms_tir,  # noqa: F401
    forms_value,  # noqa: F401
)
from rlx.grammar.actions_atoms import AtomActions
from rlx.grammar.actions_calls import CallActions, SubscriptActions
from rlx.grammar.actions_definitions import DefinitionActions
from rlx.grammar.actions_statements import StatementActions
from rlx.grammar.automaton import Action, Callbacks, callbacks
from rlx.grammar.module_statements import ModuleStatements
from rlx.grammar.outer_level import NamesAround
from rlx.grammar.prim_statements import PrimStatements
from rlx.grammar.relax_statements import RelaxStatements
from rlx.grammar.reports import ReadContext

OWNERS = (AtomActions, CallActions, SubscriptActions, StatementActions, DefinitionActions)


@cache
def _owner(name: str) -> int:
    """Which of the objects has the action of a name."""
    (found,) = (at for at, owner in enumerate(OWNERS) if hasattr(owner, f"do_{name}"))
    return found


class Actions:
    """The objects that read a text, each its part of the grammar, made when they are asked for."""

    def __init__(self, context: ReadContext) -> None:
        relax = cache(lambda: RelaxStatements(context))
        prim = cache(lambda: PrimStatements(context))
        self.statements = StatementActions(
            context.scope,
            {
                "module": cache(lambda: ModuleStatements(context)),
                **dict.fromkeys(["function", "branch", "dataflow"], relax),
                **dict.fromkeys(["prim_func", "block"], prim),
            },
        )
        self.definitions = DefinitionActions(context, self.statements)
        around = NamesAround(context)
        self._objects = (
            AtomActions(context, around),
            CallActions(context, around),
            SubscriptActions(context, around),
            self.statements,
            self.definitions,
        )

    def callbacks(self) -> Callbacks:
        """What the automaton calls for each production."""
        return callbacks(self._action)

    def _action(self, name: str) -> Action:
        found: Action = getattr(self._objects[_owner(name)], f"do_{name}")
        return found
