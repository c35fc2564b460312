"""How Sphinx builds the site: `make docs`."""

import os
import sys
import warnings
from importlib.metadata import version as installed
from pathlib import Path
from types import GenericAlias

from sphinx.errors import ExtensionError

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "tools")]

from site_pages import undocumented, write_pages
from write_addresses import project_urls

from farthing import errors

project = "Farthing"
author = "The Farthing developers"
copyright = author
version = release = installed("farthing")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "local_mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "_build"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
default_role = "py:obj"
# Pages of results jump over heading levels, and one name lives in several packages, such as Frontier.
suppress_warnings = ["myst.header", "ref.python", "config.cache"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def _refuse_warnings(gallery_conf, file):  # noqa: ARG001 - sphinx-gallery gives these
    """Make warnings of an example errors: its page would show them, with the path of its file."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, Warning):
            warnings.filterwarnings("error", category=kind)


sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", _refuse_warnings),
    "abort_on_example_error": True,
    "show_memory": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "Farthing"
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
mathjax_path = "mathjax/tex-chtml.js"  # see local_mathjax
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# These pages have no pages below them, and no use for a list of them.
html_sidebars = {page: [] for page in ("index", "install", "guide", "tutorial", "concepts/index")}

try:
    urls = project_urls(os.environ)
except LookupError:  # not built by a workflow
    urls = {}
else:
    html_baseurl = urls["Documentation"]
    html_theme_options["github_url"] = urls["Repository"]

linkcheck_ignore = [
    r"http://127\.0\.0\.1.*",
]
linkcheck_timeout = 15

write_pages(DOCS, urls.get("Repository"))


def _skip(app, what, name, obj, skip, options):  # noqa: ARG001, PLR0917 - Sphinx gives these
    """Leave out what scikit-learn adds to every estimator, whose text links to its own pages."""
    added = name.startswith("set_") and name.endswith("_request")
    inherited = (getattr(obj, "__module__", None) or "").startswith("sklearn.")
    return True if added or inherited else None


def _module_of(app, module, name):  # noqa: ARG001 - Sphinx gives these
    """Return the module of a type alias: ``list[...]`` says of itself that it is of `builtins`."""
    return module if isinstance(getattr(sys.modules.get(module), name, None), GenericAlias) else None


_RESULTS = "results/index"


def _list_results(app, name, source):  # noqa: ARG001 - Sphinx gives these
    """Put the pages of results below their index, whose file is read without the site, too."""
    if name == _RESULTS:
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def _results_index(app, env, added, changed, removed):  # noqa: ARG001 - Sphinx gives these
    """Read the index of results in every build: what is added to it is not in its file."""
    return [_RESULTS]


def _refuse_gaps(app, env):  # noqa: ARG001 - Sphinx gives these
    """Refuse to build a reference that lacks public names."""
    if gaps := undocumented(env.domaindata["py"]["objects"]):
        raise ExtensionError(f"the reference lacks {', '.join(gaps)}")


def setup(app):
    """Connect what Sphinx calls."""
    app.connect("env-check-consistency", _refuse_gaps)
    app.connect("autodoc-skip-member", _skip)
    app.connect("source-read", _list_results)
    app.connect("env-get-outdated", _results_index)
    app.connect("viewcode-follow-imported", _module_of)
