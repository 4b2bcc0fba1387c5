"""`setwise` and `python -m setwise` are the command."""

import sys


def main() -> int:
    """Run the command. An interrupt ends it while its modules are imported, too."""
    try:
        from setwise.analysis.commands.main import main as run
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
