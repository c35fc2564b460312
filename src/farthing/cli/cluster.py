"""Fits and predictions by the workers of a Dask cluster: the options ``--cluster`` and ``--workers``."""

from __future__ import annotations

import ast
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from farthing.cli.options import budget_amount, method_list
from farthing.cli.problem import dropped_columns, note_task, read_costs
from farthing.cli.tables import check_columns, for_model, refuse_dates
from farthing.cli.task import Task, guess_task, guess_task_of_numbers
from farthing.errors import FileError, TableError

if TYPE_CHECKING:
    from farthing.distributed.progress import FitProgress, ReadProgress

ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Address of a Dask scheduler, such as tcp://host:8786, whose workers read the table: one or "
        "more Parquet files, such as 'data/*.parquet'.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="The same with this many worker processes on this machine.", min=1),
]
WorkerMemory = Annotated[
    str | None, typer.Option(help="Memory of each of the --workers, such as 1GiB; by default no limit.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A parameter of the method on a cluster, such as n_estimators=300; may be repeated.",
    ),
]

# What learns from Dask collections, if no method is named.
_METHODS: Final = {
    Task.CLASSIFY: "GreedyMiserClassifier",
    Task.REGRESS: "GreedyMiserRegressor",
    Task.RANK: "GreedyMiserRanker",
}
# Different numbers of a target that are looked at, of each partition, to tell labels from numbers.
_MOST_NUMBERS: Final = 1000


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where a table is read.

    Parameters
    ----------
    address : str or None
        Of a scheduler.
    workers : int or None
        Processes to start instead.
    memory : str or None
        Limit of each of these.
    """

    address: str | None
    workers: int | None
    memory: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether a cluster is asked for."""
        return self.address is not None or self.workers is not None

    def refuse(self, **others: object) -> None:
        """Raise ValueError if an option is given that does not go with a cluster."""
        for name, value in others.items():
            if value not in (None, False, (), []):
                option = "--" + name.replace("_", "-")
                raise ValueError(f"{option} does not go with --cluster and --workers; leave it out")

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Connect to the cluster, or start one, and make it the active one."""
        try:
            from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise ImportError("--cluster and --workers need Dask: pip install 'farthing[dask]'") from error
        if self.address is not None:
            if self.workers is not None:
                raise ValueError("--cluster names workers that run already, so --workers has no place")
            with Client(self.address) as client:
                yield client
            return
        with (
            LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                memory_limit=self.memory or 0,
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client


def read_collection(pattern: Path) -> Any:
    """Return Parquet files as a Dask dataframe, whose rows are not read yet.

    Parameters
    ----------
    pattern : Path
        A file, a folder, or a pattern such as ``data/*.parquet``.
    """
    import dask.dataframe as dd  # noqa: PLC0415 - an extra

    if ".parquet" not in pattern.name and not pattern.is_dir():
        raise TableError(f"a cluster reads Parquet files, such as 'data/*.parquet'; got {str(pattern)!r}")
    try:
        return dd.read_parquet(str(pattern))
    except (OSError, ValueError) as error:
        raise TableError(f"{str(pattern)!r} cannot be read as Parquet files: {error}") from error


def fit_on_cluster(
    pattern: Path,
    target: str,
    costs: Path | None,
    *,
    budget: str | Sequence[str] | None,
    budget_kind: str,
    task: Task | None,
    drop: Sequence[str] | None,
    weight: str | None,
    query: str | None,
    methods: str,
    settings: Sequence[str] | None,
    seed: int,
    shown: bool,
) -> Any:
    """Fit one method on the active cluster; return the estimator. Options are those of ``farthing fit``."""
    from farthing.base import registry  # noqa: PLC0415 - slow to import
    from farthing.distributed.progress import showing  # noqa: PLC0415

    frame = read_collection(pattern)
    dropped = dropped_columns(drop or (), frame)
    roles = [name for name in (weight, query) if name is not None]
    check_columns([target, *dropped, *roles], frame)
    if budget and budget_kind != "hard":
        raise ValueError("on a cluster a budget limits every row: add --kind hard, or leave out --budget")
    X = frame.drop(columns=list(dict.fromkeys([target, *dropped, *roles])))
    refuse_dates(X.head(0, npartitions=1, compute=False)._meta)  # noqa: SLF001 - Dask's own word for it
    sheet = read_costs(costs, list(X.columns), unused={*dropped, *roles})
    y = frame[target]
    if task is None:
        task, reason = _guess(y)
        note_task(task, target, reason)
    named = method_list(methods)
    if isinstance(named, list) and len(named) != 1:
        raise ValueError(f"on a cluster one method is fitted; --methods names {len(named)}: {methods}")
    name = _METHODS[task] if isinstance(named, str) else named[0]
    method = registry.get(name)
    given = {"costs": sheet, **_parameters(settings or ())}
    known = method().get_params()
    if "random_state" in known:
        given.setdefault("random_state", seed)
    if budget:
        given["budget"] = budget_amount(budget, sheet)
    if strange := [key for key in given if key not in known]:
        raise ValueError(f"{name} has no parameter {strange[0]!r}; it has {', '.join(sorted(known))}")
    if task is Task.CLASSIFY and getattr(y.dtype, "kind", "O") == "f":
        y = y.astype("int64")
    options = {"qid": frame[query]} if query is not None else {}
    if weight is not None:
        options["sample_weight"] = frame[weight]
    with showing(_print_progress if shown else lambda _: None):
        return method(**given).fit(X, y, **options)


def predict_on_cluster(
    model: Any, pattern: Path, folder: Path, *, budget: Any, ordered: bool, shown: bool
) -> tuple[int, float, float]:
    """Predict Parquet files into Parquet files of a folder, one for each partition.

    Returns
    -------
    n_rows : int
    spent : float
        Of all rows together.
    most : float
        The largest spend of a row.
    """
    import dask  # noqa: PLC0415 - an extra
    from distributed import get_client  # noqa: PLC0415

    from farthing.distributed.waiting import gathered, task_names  # noqa: PLC0415

    frame = for_model(read_collection(pattern), model)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileError(f"--output {folder} has files in it; give a new folder")
    client, start = get_client(), time.perf_counter()
    sent = dask.delayed(model, traverse=False)
    work, name = dask.delayed(_predict_part, pure=False), task_names("predict")
    where = str(folder.absolute())  # workers may be in other folders
    parts = [
        work(sent, part, where, number, budget, ordered=ordered, dask_key_name=name(number))
        for number, part in enumerate(frame.to_delayed())
    ]

    told_of = 0

    def tell(n_done: int) -> None:
        nonlocal told_of
        if shown and n_done > told_of:
            seconds = time.perf_counter() - start
            typer.echo(f"{n_done} of {len(parts)} partitions predicted, {seconds:.1f} s", err=True)
        told_of = n_done

    told = gathered(client, client.compute(parts), tell)
    tell(len(told))
    return (
        sum(n_rows for n_rows, _, _ in told),
        sum(spent for _, spent, _ in told),
        max((most for n_rows, _, most in told if n_rows), default=0.0),
    )


def _predict_part(
    model: Any, frame: Any, folder: str, number: int, budget: Any, *, ordered: bool
) -> tuple[int, float, float]:
    """Predict a partition and write it; a worker that is lost leaves no half of a file."""
    from farthing.cli.predict import prediction_frame  # noqa: PLC0415 - which imports this file
    from farthing.distributed.passes import naming  # noqa: PLC0415

    with naming(number):
        result = prediction_frame(model, frame, budget, ordered=ordered, quiet=True)
    path = os.path.join(folder, f"part-{number:05d}.parquet")
    beside = f"{path}.{secrets.token_hex(8)}.tmp"
    result.to_parquet(beside)
    os.replace(beside, path)
    spent = result["spend"]
    return len(result), float(spent.sum()), float(spent.max()) if len(result) else 0.0


def _guess(y: Any) -> tuple[Task, str]:
    """Return the task of a target that is not in this process, see `guess_task`."""
    import dask  # noqa: PLC0415 - an extra
    import numpy as np  # noqa: PLC0415

    kind = getattr(y.dtype, "kind", "O")
    if kind not in "iuf":
        return guess_task(np.empty(0, dtype=bool if kind == "b" else object))

    def look(column: Any) -> tuple[Any, int]:
        return np.unique(column)[:_MOST_NUMBERS], len(column)

    told = dask.compute(*[dask.delayed(look)(part) for part in y.to_delayed()])
    values = np.unique(np.concatenate([values for values, _ in told]))
    return guess_task_of_numbers(values, sum(n_rows for _, n_rows in told))


def _parameters(settings: Sequence[str]) -> dict[str, Any]:
    """Return parameters from texts such as ``max_depth=3``; what is no Python value is text.

    Examples
    --------
    >>> _parameters(["max_depth=None", "tradeoff=0.01", "charge=row"])
    {'max_depth': None, 'tradeoff': 0.01, 'charge': 'row'}
    """
    found: dict[str, Any] = {}
    for entry in settings:
        name, equals, text = entry.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, such as n_estimators=300; got {entry!r}")
        try:
            found[name.strip()] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name.strip()] = text
    return found


def _print_progress(progress: FitProgress | ReadProgress) -> None:
    typer.echo(progress_line(progress), err=True)


def progress_line(progress: FitProgress | ReadProgress) -> str:
    """Return a line on how far a fit is.

    Examples
    --------
    >>> from farthing.distributed.progress import FitProgress, ReadProgress
    >>> progress_line(FitProgress(n_rounds=20, n_bytes=3_000_000, seconds=7.2, n_workers=4))
    '20 rounds of trees, 3.0 MB moved, 7.2 s, 4 workers'
    >>> progress_line(ReadProgress(n_binned=12, n_parts=200, seconds=4.0))
    '12 of 200 partitions read, 4.0 s'
    """
    from farthing.distributed.progress import ReadProgress  # noqa: PLC0415 - an extra

    if isinstance(progress, ReadProgress):
        return f"{progress.n_binned} of {progress.n_parts} partitions read, {progress.seconds:.1f} s"
    rounds, workers = (
        counted(n, what) for n, what in ((progress.n_rounds, "round"), (progress.n_workers, "worker"))
    )
    return f"{rounds} of trees, {bytes_text(progress.n_bytes)} moved, {progress.seconds:.1f} s, {workers}"


def bytes_text(n_bytes: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> bytes_text(3_000_000), bytes_text(41_000)
    ('3.0 MB', '41.0 kB')
    """
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"


def counted(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "tree"), counted(2, "tree")
    ('1 tree', '2 trees')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
