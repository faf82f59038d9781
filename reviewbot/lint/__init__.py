"""Source to findings: units, the rule interface, the engine."""
