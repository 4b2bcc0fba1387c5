"""The user's own routines: definitions made from functions, and the files that hold them."""
