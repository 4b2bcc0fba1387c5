"""`python -m setwise.analysis.atlas DIR [NAME...]` writes the data of these routines, or of all; `make docs` does."""

import sys
from pathlib import Path

from setwise.analysis.atlas.site_files import write
from setwise.analysis.bench.compilers import CompilerError


def main(words: list[str]) -> int:
    """Write what is asked for; 2, and a line that says why, where that cannot be done."""
    try:
        if not words:
            raise ValueError("give the folder to write to, and names of routines if you do not want all")
        write(Path(words[0]), words[1:])
    except (ValueError, OSError, CompilerError) as error:
        print(f"atlas: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
