"""The specification: what sliding pieces attack, square by square."""
