"""Text out of model types and templates only."""
