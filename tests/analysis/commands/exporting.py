"""`setwise export` as tests run it: the metadata of what it writes, and what it or `setwise verify` complains of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from setwise.analysis.commands.main import main
from tests.analysis.commands import running
from tests.analysis.commands.running import Capture

SOUTH, UNION = "kogge-stone.attacks.sout", "sliders.union"


def export(directory: Path, *arguments: str) -> dict[str, Any]:
    """The metadata of what the command writes."""
    assert main(["export", *arguments, "-o", str(directory)]) == 0
    found: dict[str, Any] = json.loads((directory / "metadata.json").read_text())
    return found


def complaint(capsys: Capture, *arguments: str, status: int = 2) -> str:
    """The one line that the command complains with, whatever was printed before."""
    capsys.readouterr()
    return running.complaint(capsys, *arguments, status=status)


def findings(capsys: Capture, directory: Path, status: int = 1) -> list[tuple[str, str]]:
    """What failed, of what."""
    capsys.readouterr()
    assert main(["verify", str(directory), "--json"]) == status
    return [(one["subject"], one["what"]) for one in json.loads(capsys.readouterr().out) if one["status"] == "failed"]
