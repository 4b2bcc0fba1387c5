"""Exports as their reader sees them: facts about a kernel's bytes, metadata.json, and whether both still hold."""
