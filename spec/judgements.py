"""The judgements of the specification: their forms, and which part of the code decides each.

A rule's conclusion has the form of one of them; the function that is registered for the rule stands
in one of the modules that decide it. `spec/README.md` shows this table.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Judgement(NamedTuple):
    """A form of sentence that rules conclude.

    Attributes
    ----------
    name
        What it is called: ``"derivation"``.
    form
        How it is written, with the symbols of `spec/README.md`.
    pattern
        What tells it from the other forms: the whole conclusion matches.
    meaning
        How it is read.
    modules
        The packages or modules whose functions decide it.
    """

    name: str
    form: str
    pattern: str
    meaning: str
    modules: tuple[str, ...]


JUDGEMENTS = (
    Judgement(
        "well-formed",
        "K |- X ok",
        r"K \|- .+ ok",
        "at the position K, X is well-formed",
        ("rlx.checker.well_formed", "rlx.old.well_formed", "rlx.old.annotations"),
    ),
    Judgement(
        "normal form",
        "|- X normal",
        r"\|- .+ normal",
        "X is in normal form",
        ("rlx.checker.normal_form",),
    ),
    Judgement(
        "derivation",
        "G; S |- e : I",
        r"G; S \|- .+ : .+",
        "with the struct infos G of variables and the shape variables S, every value of e is in I",
        ("rlx.checker.derive",),
    ),
    Judgement(
        "binding",
        "G; S |- b => G'; S'",
        r"G; S \|- .+ => G'; S'",
        "after the binding b, the struct infos of variables are G' and the shape variables S'",
        ("rlx.checker.derive",),
    ),
    Judgement(
        "module",
        "|- M => G",
        r"\|- .+ => G",
        "the global variables of the module M have the struct infos G",
        ("rlx.checker.derive.module",),
    ),
    Judgement(
        "placement",
        "M |- X on p",
        r"M \|- .+ on p",
        "in the module M, the tensors of X are on the device p",
        ("rlx.checker.derive.devices",),
    ),
    Judgement(
        "overwriting",
        "K |- X overwrites x",
        r"K \|- .+ overwrites .+",
        "at the position K, X may overwrite the memory of x",
        ("rlx.checker.overwritten",),
    ),
    Judgement(
        "memory",
        "K |- X keeps m",
        r"K \|- .+ keeps .+",
        "at the position K of a lowered program, X uses the memory m correctly",
        ("rlx.checker.lowered",),
    ),
    Judgement(
        "subtyping",
        "S |- I <: J",
        r"S \|- .+ <: .+",
        "every value of I is a value of J, for all values of the shape variables",
        ("rlx.solver.order.subtype",),
    ),
    Judgement(
        "compatibility",
        "S |- I fits J",
        r"S \|- .+ fits .+",
        "a value of I can be used where J is expected: certainly, possibly, or not",
        ("rlx.solver.order.compatibility",),
    ),
    Judgement(
        "meeting",
        "S |- I meets J",
        r"S \|- .+ meets .+",
        "some value may belong to both I and J",
        ("rlx.solver.order.disjoint",),
    ),
    Judgement(
        "least upper bound",
        "S |- I \\/ J = R",
        r"S \|- .+ \\/ .+ = .+",
        "R is the least known upper bound of I and J",
        ("rlx.solver.order.lub_glb",),
    ),
    Judgement(
        "greatest lower bound",
        "S |- I /\\ J = R",
        r"S \|- .+ /\\ .+ = .+",
        "R is the greatest known lower bound of I and J, or none",
        ("rlx.solver.order.lub_glb",),
    ),
    Judgement(
        "erasure",
        "S |- erase(I) = J",
        r"S \|- erase\(.+\) = .+",
        "J is what remains of I if it may mention only the shape variables of S",
        ("rlx.solver.order.erase",),
    ),
    Judgement(
        "instantiation",
        "S |- bind(I, J) = s",
        r"S \|- bind\(.+\) = .+",
        "s binds the shape variables of the parameter I to the values in the argument J",
        ("rlx.solver.order.bind",),
    ),
    Judgement(
        "substitution",
        "I[s] = J",
        r".+\[s\] = .+",
        "J is I with the variables of s replaced",
        ("rlx.solver.order.substitute",),
    ),
    Judgement(
        "type",
        "type(I) = T",
        r"type\(.+\) = .+",
        "T is the traditional type of I",
        ("rlx.solver.order.traditional",),
    ),
    Judgement(
        "obligation",
        "S |- Q holds",
        r"S \|- .+ holds",
        "the operator's condition Q on the struct infos of its operands holds for all sizes of at"
        " least 1",
        ("rlx.operators",),
    ),
    Judgement(
        "PrimFunc",
        "E |- X ok",
        r"E \|- .+ ok",
        "in a PrimFunc with the variables and buffers E, X is well-formed",
        ("rlx.checker.prim_funcs",),
    ),
    Judgement(
        "dynamic check",
        "G; S |- X checks Q",
        r"G; S \|- .+ checks .+",
        "the check of Q when X runs has the verdict redundant, needed or fails",
        ("rlx.checker.dynamic_checks",),
    ),
    Judgement(
        "certificate",
        "|- p proves n",
        r"\|- .+ proves .+",
        "by the certificate p, the condition n holds wherever it is defined",
        ("rlx.solver.proofs",),
    ),
    Judgement(
        "proof step",
        "D |- X gives n",
        r"D \|- .+ gives .+",
        "if the numbered facts D are true, so is the condition n, which the step X adds",
        ("rlx.solver.proofs",),
    ),
    Judgement(
        "refinement",
        "S |- Y refines X",
        r"S \|- .+ refines .+",
        "for the sizes S, the program or part Y returns what X returns wherever X returns",
        ("rlx.refine",),
    ),
    Judgement(
        "step",
        "<X, F, H> -> <Y, F', H'>",
        r"<.+, F, H> -> .+",
        "with the frames F and the store H the redex X becomes Y: a value, or the next redex",
        ("rlx.semantics.machine",),
    ),
    Judgement(
        "part of a step",
        "within <X, F, H> -> <Y, F', H'>",
        r"within <.+, F, H> -> .+",
        "in a step, with the frames F and the store H, X becomes Y; the step is named by another"
        " rule, the one that matches its redex",
        ("rlx.semantics.machine", "rlx.semantics.arrays"),
    ),
    Judgement(
        "machine instruction",
        "i | r, A --> i' | r', A'",
        r".+ \| .+ --> .+",
        "on the virtual machine with the registers r and the waiting calls A the instruction i"
        " leads to i', r' and A'",
        ("rlx.vm", "rlx.semantics.machine.builtins"),
    ),
    Judgement(
        "check of values",
        "F; H |- vs : Is => F'",
        r"F; H \|- .+ : .+ => F'",
        "the values vs belong to the struct infos Is, and F' adds the shape variables that this"
        " binds",
        ("rlx.semantics.cast",),
    ),
    Judgement(
        "computation",
        "compute Q = v",
        r"compute .+ = .+",
        "the operator, or the part of operators named Q, computes v",
        ("rlx.operators",),
    ),
    Judgement(
        "TIR expression",
        "E; H |- n = v",
        r"E; H \|- .+ = [^>]+",
        "with the numbers and buffers E and the memory H the prim expression n has the value v",
        ("rlx.semantics.tir",),
    ),
    Judgement(
        "TIR statement",
        "E; H |- X => E'; H'",
        r"E; H \|- .+ => E'; H'",
        "the statement X turns the numbers and buffers E and the memory H into E' and H'",
        ("rlx.semantics.tir",),
    ),
    Judgement(
        "native code",
        "native X = C",
        r"native .+ = .+",
        "X is run as the C program C, with the same outcome as E; H |- X => E'; H'",
        ("rlx.semantics.native",),
    ),
    Judgement(
        "Relay text",
        "R |- X reads",
        r"R \|- .+ reads",
        "in the module R of Relay, the text X is a definition or an expression",
        ("rlx.relay",),
    ),
    Judgement(
        "Relay scope",
        "R |- e in s",
        r"R \|- .+ in .+",
        "in the module R of Relay, the node e is computed in the scope s",
        ("rlx.relay",),
    ),
    Judgement(
        "Relay evaluation",
        "R |- e >>> v",
        r"R \|- .+ >>> .+",
        "in the module R of Relay, e has the value v",
        ("rlx.relay",),
    ),
    Judgement(
        "Relay translation",
        "R |- e ~> e'",
        r"R \|- .+ ~> .+",
        "in the module R of Relay, e is translated to the expression e' of Relax",
        ("rlx.relay",),
    ),
    Judgement(
        "older subtyping",
        "|- T <: U",
        r"\|- .+ <: .+",
        "every value of the type T of 2022 is a value of U",
        ("rlx.old.order",),
    ),
    Judgement(
        "procedure",
        "|= f(X) = Y",
        r"\|= .+ = .+",
        "the procedure f of the specification of 2022 returns Y for X",
        ("rlx.old",),
    ),
    Judgement(
        "checked type",
        "Y |- e :: T",
        r"Y \|- .+ :: .+",
        "with the types Y of variables, the expression e has the type T of 2022",
        ("rlx.old",),
    ),
    Judgement(
        "shape computation",
        "Y |- shape_(e) = s",
        r"Y \|- shape_\(.+\) = .+",
        "with the types and shapes Y of variables, s computes the shape of e",
        ("rlx.old",),
    ),
    Judgement(
        "older binding",
        "Y |- b ==> Y'",
        r"Y \|- .+ ==> Y'",
        "after the binding b, the variables have the types and shapes Y'",
        ("rlx.old.bindings",),
    ),
    Judgement(
        "older evaluation",
        "Z |- X >> v",
        r"Z \|- .+ >> .+",
        "in the scope Z of the specification of 2022, X has the value v",
        ("rlx.old.evaluation",),
    ),
)


def judgement_of(conclusion: str) -> str:
    """The name of the judgement that a conclusion has the form of; empty if of none.

    The forms exclude each other, but for the TIR forms, of which ``=>`` tells the statement.
    """
    names = [j.name for j in JUDGEMENTS if re.fullmatch(j.pattern, conclusion)]
    if len(names) == 1:
        return names[0]
    return ""


def decided_in(name: str, module: str) -> bool:
    """Whether a function of a module decides a judgement."""
    known = {judgement.name: judgement.modules for judgement in JUDGEMENTS}
    return any(f"{module}.".startswith(f"{prefix}.") for prefix in known[name])


def table() -> list[str]:
    """The judgements as the rows of a Markdown table."""
    rows = ["| judgement | form | read |", "|---|---|---|"]
    for judgement in JUDGEMENTS:
        form = judgement.form.replace("|", "\\|")
        rows.append(f"| {judgement.name} | `{form}` | {judgement.meaning} |")
    return rows
