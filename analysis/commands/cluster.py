"""Who works for a command: processes here, or those of a Dask cluster, and what becomes of errors there."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from setwise.analysis.commands.errors import CannotRunHere, NotInstalled
from setwise.analysis.run.workers import OtherCode, Workers, by_code, digest

_PATIENCE = 5  # seconds in which a scheduler answers, and has a worker


class SomethingElse(ValueError):
    """What a worker gave is not of the kind that was asked for."""

    def __init__(self) -> None:
        super().__init__("a worker gives something else than was asked for: install there the setwise that is here")


@contextmanager
def workers_for(dask: str | None, number: int | None = None) -> Iterator[Workers]:
    """So many processes, by default one a core; with the address of a Dask scheduler its workers, as many as it has.

    At the end what those have not begun is taken back. Raises ValueError where nobody answers or nobody works,
    NotInstalled where versions differ or something is missing, CannotRunHere where the scheduler is lost or a task ends
    one worker after the other.
    """
    if dask is None:
        with Workers(number) as workers:
            yield workers
        return
    distributed: Any = import_module("distributed")
    with import_module("dask").config.set({"distributed.comm.timeouts.connect": _PATIENCE}), _silent():
        client = _client(distributed, dask)
        try:
            hold_alike(client.get_versions(), dask)
            _try(client, dask)
            with Workers(sum(client.nthreads().values()), client.get_executor(pure=False)) as workers:
                yield workers
        except distributed.KilledWorker:
            raise CannotRunHere("a kernel ended every worker that judged it: try them one by one") from None
        except CancelledError:
            raise CannotRunHere(f"the scheduler at {dask} is lost: see why, and start anew") from None
        except OtherCode as error:
            raise NotInstalled(str(error)) from None
        except ImportError as error:
            raise NotInstalled(
                f"a worker of {dask} lacks a module: pip install '.[prove,check]' there ({error})"
            ) from None
        finally:
            client.close(timeout=1)


@contextmanager
def _silent() -> Iterator[None]:
    """What Dask has to say goes unsaid: errors come as exceptions."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _client(distributed: Any, address: str) -> Any:
    """Who talks to the scheduler, which has a worker at the least; ValueError where none answers or none works."""

    async def greet() -> None:
        security = distributed.Security().get_connection_args("client")
        greeted = await asyncio.wait_for(distributed.comm.connect(address, _PATIENCE, **security), _PATIENCE + 1)
        greeted.abort()

    try:
        # A client that cannot connect is slow to end, and never does where somebody else answers without a word.
        asyncio.run(greet())
        client = distributed.Client(address, set_as_default=False, name="setwise")
    except Exception as error:
        reason = " ".join(str(error).split()) or "it says nothing"
        raise ValueError(f"no Dask scheduler at {address}: start one by 'dask scheduler' ({reason})") from None
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        client.close(timeout=1)
        raise ValueError(f"no worker at {address}: start some by 'dask worker {address}'") from None
    return client


def _try(client: Any, address: str) -> None:
    """NotInstalled where setwise is missing or another: a worker that cannot read a task would end without a word."""
    try:
        client.run_on_scheduler(by_code, digest(), str)
        client.run(by_code, digest(), str)
    except OtherCode:
        raise
    except Exception as error:
        raise NotInstalled(f"{address} or a worker of it lacks setwise: install it there, too ({error})") from None


def hold_alike(versions: Mapping[str, Any], address: str) -> None:
    """NotInstalled where the scheduler, or a worker, has another Python or Dask than this process."""
    here = _of_interest(versions["client"])
    for place in (versions["scheduler"], *versions["workers"].values()):
        for name, there in _of_interest(place).items():
            if there != here[name]:
                raise NotInstalled(
                    f"{address} has {name} {there}, and here is {here[name]}: install the same there and here"
                )


def _of_interest(place: Mapping[str, Any]) -> dict[str, str]:
    """Versions on which it hangs whether two processes understand each other."""
    packages = place["packages"]
    python = ".".join(packages["python"].split(".")[:2])
    return {"Python": python, "dask": packages["dask"], "distributed": packages["distributed"]}
