"""A gate that learns on line which rows to send on, from the labels of those that it sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing import store
from farthing.adaptive.adapt.projection import Floats
from farthing.adaptive.online_gate.exp3 import DOUBLING, Rates, Weights, bound
from farthing.adaptive.online_gate.experts import Experts, Look, as_experts
from farthing.adaptive.online_gate.files import first_arguments, resume, state_of
from farthing.adaptive.online_gate.rounds import History, Pending, RandomStream
from farthing.base.files import PathLike, register_reader
from farthing.base.parameters import check_whole
from farthing.errors import FileError, RoundError

Loss: TypeAlias = Callable[[Any, Any], float]


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What to do with one row.

    Attributes
    ----------
    remote : bool
        Whether to ask the remote model, and to give its answer to `OnlineGate.feedback`.
    prediction : object
        What the local model says; None if the remote one is to be asked.
    expert : int
        The expert that was drawn; the last one is the one that always asks.
    """

    remote: bool
    prediction: Any
    expert: int


class OnlineGate:
    """EXP3.G over experts, each a gate and a local model: who learns on line when to ask a remote model.

    At each round an expert is drawn, and its gate decides: g > 0 sends the row on, as everywhere in Farthing
    (the thesis has g <= 0 there). A row sent on costs ``cost``, and its label shows what every expert would
    have lost; a row that stays shows nothing. Losses that are seen count by the inverse of the probability of
    seeing them, so that their estimates are unbiased (algorithm 6). An expert that always asks is added, so
    that no round is without one.

    With a known number of rounds T, and K experts, the added one among them, the rates are those of section
    6.2, and the expected regret against the best expert is at most 3 c^(1/3) (ln K)^(1/3) T^(2/3). Without
    one, phases of 1, 2, 4, ... rounds start anew, each with the rates of its length, and the bound is larger
    by the factor 2^(2/3) / (2^(2/3) - 1).

    A lot is a pure function of the seed and the number of the round: a gate that is saved and restored goes
    on bit by bit as it would have.

    Parameters
    ----------
    experts : sequence of (gate, local), AdaptExperts, Panel or Adapt model
        See `Pairs`, in which a list is wrapped, for what a gate and a local model may be. `AdaptExperts`
        are the thresholds of a fitted Adapt model, `Panel` gives the opinions of all in one call.
    cost : float
        c, what it costs to ask, above 0 and at most 1, where 1 is the cost of an error.
    horizon : int, optional
        T, the number of rounds; None if it is not known.
    loss : callable, optional
        loss(y, prediction), between 0 and 1; None is 1 for a wrong label and 0 for the right one.
    keep_history : bool
        Whether to keep what happened at each round, 17 bytes of memory a round.
    random_state : int, RandomState or None
        For the lots.

    Attributes
    ----------
    n_experts : int
        K, the expert that always asks among them.
    n_rounds : int
        Rounds so far.
    estimates_ : ndarray of float64, shape (n_experts,)
        Unbiased estimates of what each expert would have lost so far, added up.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapter 6, Algorithm 6.
    Alon, Cesa-Bianchi, Dekel, Koren: Online Learning with Feedback Graphs: AfterGate Bandits. COLT 2015.

    Examples
    --------
    >>> experts = [(lambda x, bar=bar: bar - abs(x), lambda x: x > 0) for bar in (0.0, 0.5, 1.0)]
    >>> gate = OnlineGate(experts, cost=0.3, horizon=2000, random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> for x in rng.normal(size=2000):
    ...     decision = gate.decide(x)
    ...     if decision.remote:
    ...         gate.feedback(x > 0 if abs(x) > 0.5 else not x > 0)
    >>> int(gate.q_.argmax())  # the local models are wrong within 0.5 of zero
    1
    >>> gate.regret_estimate() < gate.regret_bound()
    True
    """

    def __init__(
        self,
        experts: Any,
        cost: float = 0.1,
        *,
        horizon: int | None = None,
        loss: Loss | None = None,
        keep_history: bool = True,
        random_state: Any = None,
    ) -> None:
        if not 0 < cost <= 1:
            raise ValueError(f"cost must be above 0 and at most 1, the cost of an error; got {cost!r}")
        if horizon is not None:
            check_whole("horizon", horizon, 1)
        self.experts: Experts = as_experts(experts)
        self.n_experts = self.experts.n_experts + 1
        self.cost = float(cost)
        self.horizon = None if horizon is None else int(horizon)
        self.loss = loss
        self.keep_history = bool(keep_history)
        self.n_rounds = 0
        self.estimates_ = np.zeros(self.n_experts)
        self._paid = 0.0  # the estimate of what the gate itself has lost
        self._lots = RandomStream(int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64)))
        self._weights = Weights(self.n_experts, self._rates(1))
        self._pending: Pending | None = None
        self._history = History()

    # The stream.

    def decide(self, x: Any) -> GateDecision:
        """Draw an expert and let its gate decide about a row.

        Parameters
        ----------
        x : object
            Whatever the experts take.

        Returns
        -------
        GateDecision
        """
        self._check_open()
        return self._decide(self.experts.look(x))

    def feedback(self, y: Any) -> None:
        """Take the label of the row that was sent on.

        Parameters
        ----------
        y : object
            What the remote model said. None if it failed to say anything: then nothing is learned.
        """
        if self._pending is None:
            raise RoundError(
                "feedback was called, but no row waits for it: a row that stays tells nothing, and a row "
                "that is sent on is told of once"
            )
        if y is not None:
            self._learn(self._pending, y)
        self._pending = None

    def play(self, X: Any, y: Any) -> tuple[NDArray[np.bool_], list[Any]]:
        """Go through the rows of a table, as `decide` and `feedback` do one by one.

        Parameters
        ----------
        X : table, shape (n_rows, n_features), or sequence
            One context a round.
        y : sequence, length n_rows, or callable
            The labels, or a function from the row's number to its label; only those of rows that are sent
            on are looked at.

        Returns
        -------
        remote : ndarray of bool, shape (n_rows,)
            Which rows were sent on.
        predictions : list, length n_rows
            What was said of each row: by the local model, or by the label of a row sent on.
        """
        self._check_open()
        label = y if callable(y) else y.__getitem__
        if not callable(y) and hasattr(y, "iloc"):
            label = y.iloc.__getitem__
        remote: list[bool] = []
        predictions: list[Any] = []
        for row, look in enumerate(self.experts.looks(X)):
            made = self._decide(look)
            said = made.prediction
            if made.remote:
                self.feedback(said := label(row))
            remote.append(made.remote)
            predictions.append(said)
        return np.array(remote, dtype=np.bool_), predictions

    def _decide(self, look: Look) -> GateDecision:
        number = self.n_rounds + 1
        if self.horizon is None and number & (number - 1) == 0:  # a power of two begins a phase
            self._weights.restart(self._rates(number))
        expert = self._weights.draw(self._lots[self.n_rounds])
        if expert == self.n_experts - 1:
            remote, said = True, None
        else:
            score, said = look.one(expert)
            remote = score > 0
        chance = np.nan
        if remote:
            scores, predictions = look.all()
            asks = np.ones(self.n_experts, dtype=np.bool_)
            np.greater(scores, 0, out=asks[:-1])
            chance = self._weights.chance(asks)
            self._pending = Pending(asks, predictions, chance)
            said = None
        self.n_rounds = number
        if self.keep_history:
            self._history.append(remote, expert, chance)
        return GateDecision(remote, said, expert)

    def _learn(self, pending: Pending, y: Any) -> None:
        estimates = np.full(self.n_experts, self.cost)
        np.copyto(estimates[:-1], self._losses(y, pending.predictions), where=~pending.asks[:-1])
        estimates /= pending.chance
        self._paid += self._weights.mean(estimates)
        self.estimates_ += estimates
        self._weights.learn(estimates)

    def _losses(self, y: Any, predictions: Any) -> NDArray[Any]:
        """Return what each local prediction loses, shape (n_experts - 1,)."""
        if self.loss is None:
            wrong = predictions != y if isinstance(predictions, np.ndarray) else None
            if isinstance(wrong, np.ndarray):
                return wrong
            return np.array([bool(said != y) for said in predictions])
        losses = np.array([float(self.loss(y, said)) for said in predictions])
        if not ((losses >= 0) & (losses <= 1)).all():
            raise ValueError(
                f"loss must be between 0 and 1; got {losses.min()!r} to {losses.max()!r} for {y!r}"
            )
        return losses

    @property
    def _key(self) -> int:
        """The seed of the lots."""
        return self._lots.key

    def _rates(self, number: int) -> Rates:
        """Return the rates of a round, by its number from 1: those of the horizon, or of its phase."""
        return Rates.of(self.horizon or 2 ** (number.bit_length() - 1), self.n_experts, self.cost)

    def _check_open(self) -> None:
        if self._pending is not None:
            raise RoundError(
                "the last row was sent on and waits for its label; call feedback(y), or feedback(None) if "
                "none came"
            )

    # What is known about it.

    @property
    def q_(self) -> Floats:
        """The probabilities of the experts without exploration, shape (n_experts,)."""
        return self._weights.q

    @property
    def eta_(self) -> float:
        """The learning rate."""
        return self._weights.rates.eta

    @property
    def gamma_(self) -> float:
        """The share of rounds that explore."""
        return self._weights.rates.gamma

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """What happened at each round.

        ``remote``: whether the row was sent on; ``expert``: who was drawn; ``chance``: how likely the row was
        to be sent on, NaN where it stayed. Arrays of shape (n_rounds,).
        """
        return self._history.arrays()

    def regret_bound(self, n_rounds: int | None = None) -> float:
        """Return what the expected regret does not exceed.

        Parameters
        ----------
        n_rounds : int, optional
            After this many rounds; None is the horizon, or without one the rounds so far.
        """
        rounds = (self.horizon or self.n_rounds) if n_rounds is None else n_rounds
        if self.horizon is not None:
            return bound(max(rounds, self.horizon), self.n_experts, self.cost)
        return DOUBLING * bound(rounds, self.n_experts, self.cost)

    def regret_estimate(self) -> float:
        """Return an estimate of the regret so far: what the gate lost, less what the best expert lost.

        Both are estimated by the rounds that were seen. Each estimate is unbiased; the least of many is a
        little too low, so this is a little too high.
        """
        return float(self._paid - self.estimates_.min())

    def __repr__(self) -> str:
        return f"OnlineGate({self.n_experts} experts, cost={self.cost:g}, {self.n_rounds} rounds)"

    # Files.

    def save(self, path: PathLike) -> None:
        """Write the gate with its state to one file, at any moment of the stream.

        A file has no place for functions. Experts that are made of them, and a loss of one's own, are left
        out, and `OnlineGate.load` must be given them again.
        """
        store.write(path, "OnlineGate", state_of(self))

    @classmethod
    def load(cls, path: PathLike, *, experts: Any = None, loss: Loss | None = None) -> OnlineGate:
        """Read a gate from a file that `save` wrote, to go on where it was.

        Parameters
        ----------
        path : str or path-like
            The file.
        experts : as in the constructor, optional
            The same experts; needed unless they are `AdaptExperts`, which the file holds.
        loss : callable, optional
            The same loss, if the gate had one of its own.

        Returns
        -------
        OnlineGate
        """
        kind, state = store.read(path)
        if kind != "OnlineGate":
            raise FileError(f"{path} holds a {kind}, not an OnlineGate; use farthing.load")
        try:
            return _restored(state, experts, loss)
        except FileError:
            raise
        except store.DATA_ERRORS as error:
            raise FileError(f"{path} holds an OnlineGate that does not fit together: {error}") from error


def _restored(state: dict[str, Any], experts: Any = None, loss: Loss | None = None) -> OnlineGate:
    """Make a gate of what `OnlineGate.save` wrote; it may come from a hostile file."""
    return resume(OnlineGate(**first_arguments(state, experts, loss)), state)


register_reader("OnlineGate", _restored)
