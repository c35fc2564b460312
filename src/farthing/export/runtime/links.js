// Links.

function normalise(v) {
  const counts = v.every((x) => x === 0) ? v.map(() => 1) : v;
  let sum = 0;
  for (const count of counts) sum += count;
  return counts.map((count) => count / sum);
}

function exponentials(v) {
  const most = Math.max(...v);
  return normalise(v.map((x) => Math.exp(x - most)));
}

const STEPS = {
  first: (v) => v.slice(0, 1),
  take: (v, step) => v.slice(0, step.number),
  rest: (v) => v.slice(1),
  divide: (v, step) => v.map((x) => x / step.number),
  times: (v, step) => v.map((x) => x * step.number),
  sigmoid: (v) => [1 / (1 + Math.exp(v[0])), 1 / (1 + Math.exp(-v[0]))],
  second: (v) => [v[1]],
  softmax: exponentials,
  normalise,
  exponential: (v) => v.map(Math.exp),
  one: () => [1],
  temper: (v, step) => exponentials(v.map((x) => Math.log(Math.max(x, 1e-12)) / step.number)),
  mean_grade: (v, step) => {
    let sum = 0;
    v.forEach((x, i) => { sum += x * step.grades[i]; });
    return [sum];
  },
  single_exponential: (v) => v.map((x) => single(Math.exp(x))),
  single_sigmoid: (v) => {
    const raised = single(Math.exp(Math.min(-v[0], single(88.7)))), second = single(1 / single(raised + 1));
    return [single(1 - second), second];
  },
  single_softmax: (v) => {
    const most = Math.max(...v), raised = v.map((x) => single(Math.exp(single(x - most))));
    let sum = 0;
    for (const x of raised) sum += x;
    return raised.map((x) => single(x / single(sum)));
  },
};

const applyLink = (link, outputs) => link.reduce((v, step) => STEPS[step.name](v, step), Array.from(outputs));

// The least expected cost of a label, and the label.
function leastCost(v, costs) {
  let least = 0, label = 0;
  for (let j = 0; j < v.length; ++j) {
    let sum = 0;
    for (let i = 0; i < v.length; ++i) sum += v[i] * costs[i * v.length + j];
    if (j === 0 || sum < least) [least, label] = [sum, j];
  }
  return [least, label];
}

function endsHere(out, at) {
  if (N.EXIT_INTERVAL) return out[0] <= T.EXIT_LOW[at] || out[0] >= T.EXIT_HIGH[at];
  if (N.EXIT_GATE) return out[N.FARTHING_OUTPUTS - 1] <= T.EXIT_THRESHOLD[at];
  const { link, certainty, priced, scale } = MODEL.exitRisk, v = applyLink(link, out);
  if (certainty) return (priced ? 1 - leastCost(v, T.ERROR_COSTS)[0] / scale : Math.max(...v)) > T.EXIT_THRESHOLD[at];
  return (priced ? leastCost(v, T.ERROR_COSTS)[0] : 1 - Math.max(...v)) <= T.EXIT_THRESHOLD[at];
}
