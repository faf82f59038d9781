"""What code means, as far as a rule needs it: expressions, checks, definitions, guards, sides."""
