"""Pack the extension as a `.vsix`, which is a zip with a manifest: `python pack.py FILE`.

The extension must have been built (`npm run build`). No program of the editor's maker is needed.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent
TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the zip, so that the same sources give the same package."""

TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/>
<Default Extension=".txt" ContentType="text/plain"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
<DisplayName>{title}</DisplayName>
<Description xml:space="preserve">{description}</Description>
<Tags>{tags}</Tags>
<Categories>{categories}</Categories>
<License>extension/LICENSE.txt</License>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
</Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
</Assets>
</PackageManifest>
"""


def pack(folder: Path, out: Path) -> None:
    """Write the package of the extension in a folder; the old package or the new one is there, whole."""
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    manifest = MANIFEST.format(
        name=quoteattr(about["name"]),
        version=quoteattr(about["version"]),
        publisher=quoteattr(about["publisher"]),
        engine=quoteattr(about["engines"]["vscode"]),
        title=escape(about["displayName"]),
        description=escape(about["description"]),
        tags=escape(",".join(about["keywords"])),
        categories=escape(",".join(about["categories"])),
    )
    files = {"extension.vsixmanifest": manifest.encode(), "[Content_Types].xml": TYPES.encode()}
    for pattern in ("package.json", *about["files"]):
        for path in sorted(folder.glob(pattern)):
            name = path.relative_to(folder).as_posix()
            files[f"extension/{'LICENSE.txt' if name == 'LICENSE' else name}"] = path.read_bytes()
    if "extension/dist/extension.js" not in files:
        raise SystemExit("the extension is not built: npm ci && npm run build")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name, TIME), data, zipfile.ZIP_DEFLATED)
    with tempfile.TemporaryDirectory(dir=out.parent) as beside:
        new = Path(beside, out.name)
        new.write_bytes(made.getvalue())
        new.replace(out)


if __name__ == "__main__":
    pack(HERE, Path(sys.argv[1]))
