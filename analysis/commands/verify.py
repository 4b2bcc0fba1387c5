"""`setwise verify`: check that the files of an export are still right."""

import os
from argparse import ArgumentParser, Namespace

from setwise.analysis import api
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.progress import Progress
from setwise.analysis.text import counted

EXAMPLES = ("setwise verify out",)


def add_arguments(parser: ArgumentParser) -> None:
    """Add DIR, --run-descriptions, the time limit, and --json."""
    parser.add_argument("directory", metavar="DIR", help="the directory that `setwise export` wrote")
    parser.add_argument(
        "--run-descriptions",
        action="store_true",
        help="execute the Python files that describe a user's own routines, which may do anything",
    )
    add(parser, "--time-limit", "--json")


def run(arguments: Namespace) -> int:
    """Check the export and print the findings. Return 1 if a check failed or could not run."""
    with Progress() as progress:
        findings = api.verify(
            arguments.directory,
            time_limit=arguments.time_limit,
            run_descriptions=arguments.run_descriptions,
            processes=os.cpu_count() or 1,
            show=progress.show,
        )
    rows = [{key: getattr(found, key) for key in ("subject", "what", "status", "reason")} for found in findings]
    failed, not_run = (sum(row["status"] == status for row in rows) for status in ("failed", "not run"))
    if arguments.json:
        print_json(rows)
    else:
        print_table([tuple(row.values()) for row in rows], ("of", "check", "", ""))
        wanting = [f"{number} {status}" for number, status in ((failed, "failed"), (not_run, "not run")) if number]
        print(f"\n{counted(len(rows), 'check')}: {', '.join(wanting) or 'all fine'}")
    return int(bool(failed or not_run))
