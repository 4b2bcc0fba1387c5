"""`python -m setwise.analysis.atlas DIR [NAME...]` writes the data of these routines, or of all; `make docs` does."""

import sys
from pathlib import Path

from setwise.analysis.atlas.files import write
from setwise.analysis.measure.compilers import CompilerError

if __name__ == "__main__":
    try:
        write(Path(sys.argv[1]), sys.argv[2:])
    except (ValueError, CompilerError) as error:
        print(f"atlas: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
