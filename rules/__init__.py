"""One file is one rule; the file's name is the rule's id."""
