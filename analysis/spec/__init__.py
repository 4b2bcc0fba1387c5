"""The specification: the attacks of all pieces, computed square by square."""
