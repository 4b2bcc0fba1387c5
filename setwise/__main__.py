"""`python -m setwise` is the command."""

import sys

from setwise.analysis.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
