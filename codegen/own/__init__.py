"""The user's own routines: what is made of a function, and the files that hold such functions."""
