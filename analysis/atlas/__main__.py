"""`python -m setwise.analysis.atlas DIR [NAME...]` writes the atlas data of these routines, by default of all."""

import sys
from pathlib import Path

from setwise.analysis.atlas.site_files import write
from setwise.analysis.bench.compilers import CompilerError


def main(words: list[str]) -> int:
    """Write the data and return the exit status: 2 after a line with the reason if that fails."""
    try:
        if not words:
            raise ValueError("give the folder to write to, and optionally names of routines (default: all)")
        write(Path(words[0]), words[1:])
    except (ValueError, OSError, CompilerError) as error:
        print(f"atlas: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
