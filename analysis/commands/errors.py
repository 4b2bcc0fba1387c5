"""Why a command cannot do what was asked for, where that is no bad usage."""


class CannotRunHere(Exception):
    """This processor lacks what the code needs, or its system what the command needs."""


class NotInstalled(Exception):
    """Something is missing that the user can install; the message ends with the command that does it."""
