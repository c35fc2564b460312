"""A package, so that fixtures of the scope "package" end with the tests of this folder."""
