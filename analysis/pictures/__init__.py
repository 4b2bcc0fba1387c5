"""SVG pictures."""
