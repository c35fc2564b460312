"""One script per paper, or per chapter of a thesis: its tables and figures, ours beside the published ones."""
