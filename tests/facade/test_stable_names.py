"""Names that scripts of users call: they stay what they are."""

from __future__ import annotations

from functools import reduce

import pytest

import rlx

STABLE = [
    *("__version__", "check", "fmt", "load", "parse", "prove", "run", "show", "BlockBuilder"),
    *("DataflowMutator", "ExprMutator", "ExprVisitor", "Var", "operator", "op.add"),
    "op.nn.relu",
    "BlockBuilder.function",
    "BlockBuilder.dataflow",
    "BlockBuilder.emit",
    "BlockBuilder.emit_match_cast",
    "BlockBuilder.emit_output",
    "BlockBuilder.emit_func_output",
    "BlockBuilder.add_func",
    "BlockBuilder.update_func",
    "BlockBuilder.lookup_binding",
    "BlockBuilder.normalize",
    "BlockBuilder.prove",
    "BlockBuilder.simplify",
    "BlockBuilder.emit_te",
    "BlockBuilder.call_te",
    "BlockBuilder.get",
    "te.placeholder",
    "te.compute",
    "te.reduce_axis",
    "te.sum",
    "te.max",
    "te.min",
    "te.create_prim_func",
    "te.te_tensor",
    "transform.legalize",
    "transform.Sequential",
    "transform.Normalize",
    "transform.ToNonDataflow",
    "transform.RemovePurityChecking",
    "transform.CallTIRRewrite",
    "transform.StaticPlanBlockMemory",
    "transform.VMMemoryLower",
    "transform.VMShapeLower",
    "transform.LambdaLift",
    "transform.AttachGlobalSymbol",
    "vm.build",
    "vm.CheckFailed",
    "vm.Fault",
    "vm.LoadError",
    "vm.Executable",
    "vm.Executable.stats",
    "vm.Executable.as_text",
    "vm.Executable.as_python",
    "vm.Executable.save",
    "vm.Executable.load",
    "vm.VirtualMachine",
    "vm.VirtualMachine.set_input",
    "vm.VirtualMachine.invoke_stateful",
    "vm.VirtualMachine.get_outputs",
    "vm.VirtualMachine.save_function",
    "vm.ExecBuilder",
    "vm.ExecBuilder.function",
    "vm.ExecBuilder.r",
    "vm.ExecBuilder.c",
    "vm.ExecBuilder.imm",
    "vm.ExecBuilder.f",
    "vm.ExecBuilder.vm_state",
    "vm.ExecBuilder.emit_call",
    "vm.ExecBuilder.emit_ret",
    "vm.ExecBuilder.emit_if",
    "vm.ExecBuilder.emit_goto",
    "vm.ExecBuilder.get",
    "relay.parse",
    "relay.to_relax",
    "tvm.check",
    "tvm.Instrument",
]


@pytest.mark.parametrize("name", STABLE)
def test_a_name_is_there(name: str) -> None:
    assert reduce(getattr, name.split("."), rlx) is not None
