"""Run the command: `python -m setwise` is the same as `setwise`."""

import sys

from setwise.analysis.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
