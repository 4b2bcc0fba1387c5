"""Exports: the request, facts about each kernel's bytes, metadata.json, and verification."""
