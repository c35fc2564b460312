"""What the experiments are made of: pages of results, tables, methods, figures."""
