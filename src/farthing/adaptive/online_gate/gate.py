"""A gate that learns online which rows to send to a remote model, from the labels of the rows it sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing import store
from farthing.adaptive.online_gate.exp3 import Rates, Weights, phase_length, regret_bound
from farthing.adaptive.online_gate.experts import AdaptExperts, Experts, Look, as_experts
from farthing.adaptive.online_gate.gate_state import GateState
from farthing.adaptive.online_gate.rounds import GateDecision, History, Pending, RandomStream
from farthing.base.files import PathLike, register_reader
from farthing.base.parameters import check_whole
from farthing.errors import FileError, RoundError
from farthing.typing import Floats

Loss: TypeAlias = Callable[[Any, Any], float]


class OnlineGate:
    """EXP3.G over experts, each a gate and a local model: learns online when to ask a remote model.

    At each round an expert is drawn, and its gate decides: g > 0 sends the row to the remote model, as
    everywhere in Farthing (the thesis has g <= 0 there). A row sent on costs ``cost``, and its label reveals
    what every expert would have lost; a row that stays reveals nothing. Observed losses are weighted by the
    inverse of the probability of observing them, so that their estimates are unbiased (algorithm 6). An
    expert that always asks is added, so that there is one in every round.

    With a known number of rounds T, and K experts, the added one included, the rates are those of section
    6.2, and the expected regret against the best expert is at most 3 c^(1/3) (ln K)^(1/3) T^(2/3). Without
    one, the doubling trick restarts in phases of 1, 2, 4, ... rounds, each with the rates of its length, and
    the bound is larger by the factor 2^(2/3) / (2^(2/3) - 1). Past a horizon H it goes on in the same way, in
    phases of 2H, 4H, ... rounds, and that larger bound holds.

    A random draw is a pure function of the seed and the number of the round: a gate that is saved and loaded
    continues bit for bit as it would have.

    Parameters
    ----------
    experts : sequence of (gate, local), AdaptExperts, Panel or Adapt model
        See `Pairs`, in which a list is wrapped, for what a gate and a local model may be. `AdaptExperts`
        are the thresholds of a fitted Adapt model, `Panel` evaluates all experts in one call.
    cost : float
        c, what it costs to ask, above 0 and at most 1, where 1 is the cost of an error.
    horizon : int, optional
        T, the number of rounds, if it is known: the rates are tuned to it. More rounds may follow.
    loss : callable, optional
        loss(y, prediction), between 0 and 1; None means 1 for a wrong label and 0 for the right one.
    keep_history : bool
        Whether to record each round, in 17 bytes of memory per round.
    random_state : int, RandomState or None
        Seed of the draws.

    Attributes
    ----------
    n_experts : int
        K, the expert that always asks included.
    n_rounds : int
        Rounds so far.
    estimates_ : ndarray of float64, shape (n_experts,)
        Unbiased estimates of what each expert would have lost so far, added up.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapter 6, Algorithm 6.
    Alon, Cesa-Bianchi, Dekel, Koren: Online Learning with Feedback Graphs: Beyond Bandits. COLT 2015.

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
        self._stream = RandomStream(int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64)))
        self._weights = Weights(self.n_experts, self._rates(1))
        self._pending: Pending | None = None
        self._history = History()

    # The stream.

    def decide(self, x: Any) -> GateDecision:
        """Draw an expert and let its gate decide about a row.

        Parameters
        ----------
        x : object
            Any input that the experts take.

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
            The answer of the remote model. None if it failed to answer: then the losses of the round are
            what is known of them, the cost for each expert that asks and 0 for the others. They are learned
            from as in any round, and the bound holds for them.
        """
        if self._pending is None:
            raise RoundError(
                "feedback was called, but no row is waiting for a label: only a row that was sent on has "
                "one, and only once"
            )
        self._learn(self._pending, y)
        self._pending = None

    def play(self, X: Any, y: Any) -> tuple[NDArray[np.bool_], list[Any]]:
        """Go through the rows of a table, as `decide` and `feedback` do one by one.

        Parameters
        ----------
        X : table, shape (n_rows, n_features), or sequence
            One context per round.
        y : sequence, length n_rows, or callable
            The labels, or a function from the row's number to its label; only those of rows that are sent
            on are read.

        Returns
        -------
        remote : ndarray of bool, shape (n_rows,)
            Which rows were sent on.
        predictions : list, length n_rows
            The prediction for each row: of the local model, or the label of a row sent on.
        """
        self._check_open()
        label = y if callable(y) else y.__getitem__
        if not callable(y) and hasattr(y, "iloc"):
            label = y.iloc.__getitem__
        remote: list[bool] = []
        predictions: list[Any] = []
        for row, look in enumerate(self.experts.looks(X)):
            decision = self._decide(look)
            prediction = decision.prediction
            if decision.remote:
                self.feedback(prediction := label(row))
            remote.append(decision.remote)
            predictions.append(prediction)
        return np.array(remote, dtype=np.bool_), predictions

    def _decide(self, look: Look) -> GateDecision:
        number = self.n_rounds + 1
        # Doubling trick: each phase forgets the weights of the last and takes the rates of its own length.
        first = self.horizon or 1
        if number == phase_length(number, first) - first + 1:
            self._weights.restart(self._rates(number))
        expert = self._weights.draw(self._stream[self.n_rounds])
        if expert == self.n_experts - 1:
            remote, prediction = True, None
        else:
            score, prediction = look.one(expert)
            remote = score > 0
        chance = np.nan
        if remote:
            # All experts are evaluated only now: the label will reveal their losses. The chance is kept with
            # the round, since it is that of the distribution that the expert was drawn from.
            scores, predictions = look.all()
            asks = np.ones(self.n_experts, dtype=np.bool_)
            np.greater(scores, 0, out=asks[:-1])
            chance = self._weights.chance(asks)
            self._pending = Pending(asks, predictions, chance)
            prediction = None
        self.n_rounds = number
        if self.keep_history:
            self._history.append(remote, expert, chance)
        return GateDecision(remote, prediction, expert)

    def _learn(self, pending: Pending, y: Any) -> None:
        # (6.1): an expert that asks loses the cost, one that stays loses what its local model loses. Dividing
        # by the chance of seeing the label keeps the estimates unbiased; rounds without a label count as 0.
        estimates = np.full(self.n_experts, self.cost)
        # Without an answer, an error of those that stay would never be seen: it counts as 0.
        losses = self._losses(y, pending.predictions) if y is not None else 0.0
        np.copyto(estimates[:-1], losses, where=~pending.asks[:-1])
        estimates /= pending.chance
        # Before the weights change: the loss of the distribution of this round.
        self._paid += self._weights.mean(estimates)
        self.estimates_ += estimates
        self._weights.learn(estimates)

    def _losses(self, y: Any, predictions: Any) -> NDArray[Any]:
        """Return the loss of each local prediction, shape (n_experts - 1,)."""
        if self.loss is None:
            wrong = predictions != y if isinstance(predictions, np.ndarray) else None
            if isinstance(wrong, np.ndarray):
                return wrong
            return np.array([bool(prediction != y) for prediction in predictions])
        losses = np.array([float(self.loss(y, prediction)) for prediction in predictions])
        if not ((losses >= 0) & (losses <= 1)).all():
            raise ValueError(
                f"loss must be between 0 and 1; got {losses.min()!r} to {losses.max()!r} for {y!r}"
            )
        return losses

    def _rates(self, number: int) -> Rates:
        """Return the rates of a round, by its number from 1: those of the length of its phase."""
        return Rates.of(phase_length(number, self.horizon or 1), self.n_experts, self.cost)

    def _check_open(self) -> None:
        if self._pending is not None:
            raise RoundError(
                "the last row was sent on and is waiting for its label; call feedback(y), or feedback(None) "
                "if none came"
            )

    # Diagnostics.

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
        """A record of all rounds.

        ``remote``: whether the row was sent on; ``expert``: the drawn expert; ``chance``: the probability
        that the row was sent on, NaN where it stayed. Arrays of shape (n_rounds,).
        """
        return self._history.arrays()

    def regret_bound(self, n_rounds: int | None = None) -> float:
        """Return an upper bound of the expected regret.

        With B(n) = 3 c^(1/3) (ln K)^(1/3) n^(2/3) it is B(H) up to the horizon H, to which the rates are
        tuned. After T > H rounds, or T rounds without a horizon, it is 2^(2/3) / (2^(2/3) - 1) B(T): the
        bounds B(H), B(2H), B(4H), ... of the phases that have begun add up to less.

        Parameters
        ----------
        n_rounds : int, optional
            T; None means the rounds so far, or the horizon if that is later.
        """
        rounds = max(self.n_rounds, self.horizon or 0) if n_rounds is None else n_rounds
        return regret_bound(rounds, self.n_experts, self.cost, self.horizon)

    def regret_estimate(self) -> float:
        """Return an estimate of the regret so far: the loss of the gate minus that of the best expert.

        Both are estimated from the observed rounds. Each estimate is unbiased, but the minimum of many is a
        little too low, so this is a little too high.
        """
        return float(self._paid - self.estimates_.min())

    def __repr__(self) -> str:
        return f"OnlineGate({self.n_experts} experts, cost={self.cost:g}, {self.n_rounds} rounds)"

    # Files.

    def state(self) -> GateState:
        """Return all that the gate needs to resume from here, except functions."""
        return GateState(
            experts=self.experts if isinstance(self.experts, AdaptExperts) else None,
            n_experts=self.n_experts,
            cost=self.cost,
            horizon=self.horizon,
            own_loss=self.loss is not None,
            keep_history=self.keep_history,
            key=self._stream.key,
            n_rounds=self.n_rounds,
            logs=self._weights.logs.copy(),
            estimates=self.estimates_.copy(),
            paid=self._paid,
            pending=self._pending,
            history=self.history_,
        )

    @classmethod
    def from_state(cls, state: GateState, *, experts: Any = None, loss: Loss | None = None) -> OnlineGate:
        """Return a gate that resumes where `state` was taken.

        Parameters
        ----------
        state : GateState
            The state of a gate.
        experts, loss
            As in `load`.

        Returns
        -------
        OnlineGate
        """
        given = state.experts if experts is None else experts
        if given is None or (state.own_loss and loss is None):
            raise FileError(
                "the file holds neither the functions that are this gate's experts nor its custom loss; "
                "call OnlineGate.load(path, experts=..., loss=...) with the ones it had"
            )
        gate = cls(given, state.cost, horizon=state.horizon, loss=loss, keep_history=state.keep_history)
        if gate.n_experts != state.n_experts:
            raise FileError(
                f"the gate had {state.n_experts} experts, the one that always asks included; got "
                f"{gate.n_experts}"
            )
        gate.resume(state)
        return gate

    def resume(self, state: GateState) -> None:
        """Continue from a state of a gate with the same experts."""
        self._stream, self.n_rounds = RandomStream(state.key), state.n_rounds
        self.estimates_, self._paid = state.estimates.copy(), state.paid
        # The rates are not stored: they follow from the number of rounds.
        self._weights.resume(state.logs, self._rates(max(state.n_rounds, 1)))
        self._pending = state.pending
        self._history = History.from_arrays(state.history, len(state.history["expert"]))

    def save(self, path: PathLike) -> None:
        """Write the gate with its state to one file, at any round.

        A file cannot hold functions. Experts that are made of them, and a custom loss function, are left
        out, and `OnlineGate.load` must be given them again.
        """
        store.write(path, "OnlineGate", self.state().to_dict())

    @classmethod
    def load(cls, path: PathLike, *, experts: Any = None, loss: Loss | None = None) -> OnlineGate:
        """Read a gate from a file that `save` wrote, to resume where it was.

        Parameters
        ----------
        path : str or path-like
            The file.
        experts : as in the constructor, optional
            The same experts; needed unless they are `AdaptExperts`, which the file holds.
        loss : callable, optional
            The same loss, if the gate had a custom one.

        Returns
        -------
        OnlineGate
        """
        kind, state = store.read(path)
        if kind != "OnlineGate":
            raise FileError(f"{path} holds a {kind}, not an OnlineGate; use farthing.load")
        try:
            return cls.from_state(GateState.from_dict(state), experts=experts, loss=loss)
        except FileError:
            raise
        except store.DATA_ERRORS as error:
            raise FileError(f"{path} holds an OnlineGate that does not fit together: {error}") from error


def _from_file(state: dict[str, Any]) -> OnlineGate:
    """Build a gate from what `OnlineGate.save` wrote; the file may be hostile."""
    return OnlineGate.from_state(GateState.from_dict(state))


register_reader("OnlineGate", _from_file)
