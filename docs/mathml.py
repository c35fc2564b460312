"""Equations as MathML, which browsers draw by themselves: pages load nothing from other hosts."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def setup(app: Any) -> dict[str, Any]:
    """Add the renderer, which ``html_math_renderer = "mathml"`` chooses."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _visit_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _visit_block(translator: Any, node: nodes.math_block) -> None:
    # Wide ones are scrolled by themselves, and not the page.
    translator.body.append(translator.starttag(node, "div", CLASS="math-block"))
    translator.body.append(convert(node.astext(), display="block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode
