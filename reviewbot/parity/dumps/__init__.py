"""Readers: one module a format, and what they share. Everything in a dump is hostile data."""
