// Compiles the Python files of a folder with Pyodide's Python: `node compile.mjs FOLDER`.

import { loadPyodide } from "pyodide";

const python = await loadPyodide();
python.mountNodeFS("/stage", process.argv[2]);
python.runPython(`
import compileall, sys
from py_compile import PycInvalidationMode
if not compileall.compile_dir("/stage", quiet=1, ddir="", invalidation_mode=PycInvalidationMode.UNCHECKED_HASH):
    sys.exit("a file does not compile")
`);
