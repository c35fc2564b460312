"""A package, since packages below it are named by it."""
