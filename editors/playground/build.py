"""Make the playground, a folder of files for any web server: `python build.py FOLDER`.

It takes `npm ci` in this folder, Node, and the registries that npm and pip are set up for. The made folder
asks for nothing from elsewhere.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = HERE / "node_modules"
PYODIDE = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
    *("python_stdlib.zip", "pyodide-lock.json"),
)
SOLVER = "z3-solver==5.3.3.0"
PLATFORM = "pyemscripten_2026_0_wasm32"
"""The one that this version of Pyodide loads libraries of."""

EXAMPLES: tuple[tuple[str, str, dict[str, str | int]], ...] = (
    ("broken/reshape", "Error: 256 features, 8 heads of 33", {}),
    ("broken/broadcast", "Warning: two lengths that may differ", {}),
    ("broken/effect", "Error with a fix: a pure function prints", {}),
    ("broken/kernel", "Error: arguments that ask for two sizes", {}),
    ("broken/syntax", "Three slips of the pen", {}),
    ("mlp", "A perceptron of two layers", {"pane": "step"}),
    ("attention", "Self-attention, any length", {"pane": "why", "line": 33}),
    ("recursion", "Recursion, step by step", {"pane": "step", "entry": "even", "inputs": "k=3"}),
    ("match_cast", "Shapes that depend on data", {"pane": "step", "entry": "positives"}),
    ("shapes", "Shape arithmetic", {"pane": "prove", "goal": "(n + 15) // 16 * 16 >= n"}),
    ("call_tir", "A loop nest, called from the graph", {}),
    ("closures", "Functions as values", {"pane": "step"}),
    ("tuples", "Tuples", {}),
)
"""Programs of `examples/`, their titles, and what is open with them; the refinements below join them."""

BEFORE = """\
@I.ir_module
class Layer:
    @R.function
    def main(
        x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")
    ) -> R.Tensor(("n", 32), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.nn.relu(lv)
            lv2 = R.nn.relu(lv1)
            R.output(lv2)
        return lv2
"""
AFTER = BEFORE.replace("            lv2 = R.nn.relu(lv1)\n", "").replace("lv2", "lv1")
REFINES = (
    ("refines/relu", "Refines: the second relu does nothing", BEFORE, AFTER),
    ("refines/abs", "Refuted: relu is not abs", BEFORE, AFTER.replace("nn.relu", "abs")),
)


def build(out: Path) -> None:
    """Write the playground into a folder, which is emptied first."""
    shutil.rmtree(out, ignore_errors=True)
    (out / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copyfile(MODULES / "pyodide" / name, out / "pyodide" / name)
    for name in ("index.html", "style.css", "icon.svg"):
        shutil.copyfile(HERE / "src" / name, out / name)
    esbuild = MODULES / "esbuild" / "bin" / "esbuild"
    common = ["--bundle", "--minify", "--format=esm", "--target=es2022", f"--outdir={out}"]
    sources = [str(HERE / "src" / name) for name in ("app.js", "worker.js")]
    external = "--external:./pyodide/pyodide.mjs"
    _run([str(esbuild), *sources, *common, external, "--log-level=warning"])
    (out / "examples.json").write_text(json.dumps(examples(), indent=1), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        _stage(stage)
        _run(["node", str(HERE / "src" / "compile.mjs"), str(stage)])
        for name in ("rlx", "z3"):
            (out / f"{name}.bundle").write_bytes(bundle(_files(stage / name)))


def _stage(stage: Path) -> None:
    """Unpack what Python imports: rlx and the panes, and Z3."""
    wheels = stage / "wheels"
    _run([*_PIP, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)])
    choice = ["--no-deps", "--only-binary=:all:", "--platform", PLATFORM]
    _run([*_PIP, "download", "--quiet", *choice, "--dest", str(wheels), SOLVER])
    for name, wheel in (("rlx", "rlx-*.whl"), ("z3", "z3_solver-*.whl")):
        (found,) = wheels.glob(wheel)
        with zipfile.ZipFile(found) as archive:
            wanted = [n for n in archive.namelist() if name == "rlx" or _of_solver(n)]
            archive.extractall(stage / name, wanted)
    shutil.copyfile(HERE / "panes.py", stage / "rlx" / "panes.py")
    shutil.rmtree(wheels)


_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def _of_solver(name: str) -> bool:
    """Whether Z3 needs a file: the wheel has its library twice, and headers."""
    return name.startswith("z3/") and (name.endswith(".py") or name == "z3/lib/libz3.so")


def _files(folder: Path) -> dict[str, bytes]:
    """What Python needs of a folder: compiled modules instead of sources, but for operators, whose names are
    looked up in the sources.
    """
    found: dict[str, bytes] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("rlx/operators/"):
            if path.suffix in (".py", ".pyi"):
                continue
            name = _COMPILED.sub(r"\1.pyc", name)
        found[name] = path.read_bytes()
    return found


_COMPILED = re.compile(r"__pycache__/(\w+)\.cpython-\d+\.pyc$")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, cwd=HERE)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} …: exit status {done.returncode}")


def bundle(files: Mapping[str, bytes]) -> bytes:
    """A folder as one file, which `src/bundle.js` reads."""
    table = json.dumps({path: len(data) for path, data in files.items()}).encode()
    whole = b"".join([len(table).to_bytes(4, "big"), table, *files.values()])
    return gzip.compress(whole, 9, mtime=0)


def examples() -> list[dict[str, object]]:
    """The programs that the page offers."""
    found: list[dict[str, object]] = []
    for name, title, opened in EXAMPLES:
        code = (ROOT / "examples" / f"{name}.rlx").read_text(encoding="utf-8")
        found.append({"name": name, "title": title, "pane": "check", "code": code, **opened})
    for name, title, before, after in REFINES:
        found.append(
            {"name": name, "title": title, "pane": "refines", "code": before, "after": after}
        )
    return found


def link(code: str, **more: str) -> str:
    """The fragment of an address that opens a program, as `src/fragment.js` reads it."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(code.encode()) + packer.flush()
    words = "".join(f"{name}={value}&" for name, value in more.items())
    return f"#{words}code={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
