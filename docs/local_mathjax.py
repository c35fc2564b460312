"""MathJax beside the pages: they draw equations without a network, and load nothing from other hosts."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

# The script with TeX as input and HTML as output, and its fonts; the package has 20 MB of other forms.
PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2")


def setup(app: Any) -> dict[str, Any]:
    """Copy MathJax when the pages are written; ``mathjax_path`` names the copy."""
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _copy(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    # A package that holds MathJax; its name has hyphens.
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise ImportError("equations need MathJax: pip install sphinx-mathjax-offline")
    source, target = Path(found.origin).parent / "static" / "mathjax", app.outdir / "_static" / "mathjax"
    for part in PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy2(source / part, target / part)
