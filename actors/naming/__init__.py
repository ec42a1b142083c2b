"""Names of teams as sources spell them: words, marks of class, the shipped tables, how alike two are."""
