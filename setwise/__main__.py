"""The start of the command, for `setwise` and for `python -m setwise`."""

import sys


def main() -> int:
    """Run the command and return its exit status: 130 if an interrupt comes while its modules are imported."""
    try:
        from setwise.analysis.commands.main import main as run
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
