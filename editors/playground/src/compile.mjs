// Compiles the Python files of a folder with a Pyodide's Python: `node compile.mjs PACKAGE FOLDER`.

const { loadPyodide } = await import(process.argv[2]);
const python = await loadPyodide();
python.FS.mkdir("/stage");
python.FS.mount(python.FS.filesystems.NODEFS, { root: process.argv[3] }, "/stage");
python.runPython(`
import compileall, sys
from py_compile import PycInvalidationMode
if not compileall.compile_dir("/stage", quiet=1, ddir="", invalidation_mode=PycInvalidationMode.UNCHECKED_HASH):
    sys.exit("a file does not compile")
`);
