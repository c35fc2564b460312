"""What the methods share: inputs of columns, networks as values, fitted models, and how they are trained."""
