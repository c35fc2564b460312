"""One script per paper, or per chapter of a thesis: its tables and figures, beside the published ones."""
