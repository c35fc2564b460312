// Answers the calls of the consultation page from the model in this file, in place of a service.

(() => {
  const STEP = { name: OFFLINE.name, version: "offline" };

  function next({ given = {}, known = {}, refused = [], budget = null }) {
    const unseen = Object.entries({ ...given, ...known })
      .filter(([name, value]) => value !== null && isUnseen(name, value))
      .map(([name]) => name);
    const cap = budget === null ? MODEL.budget : budget;
    const walk = new Walk({ budget: cap, known: given });
    const used = new Set();
    for (let ask = walk.ask; ask !== null; ask = walk.ask) {
      if (refused.includes(ask.feature)) walk.refuse();
      else if (ask.feature in known) walk.tell(known[ask.feature]);
      else break;
      used.add(ask.feature);
    }
    const { prediction, probabilities, spent, acquired } = walk.decision;
    const decision = {
      prediction,
      classes: probabilities === null ? null : probabilities.map(({ label }) => label),
      probabilities: probabilities === null ? null : probabilities.map(({ probability }) => probability),
      spent,
      acquired,
    };
    return {
      ask: walk.ask === null ? null : { ...walk.ask, group: OFFLINE.groupOf[walk.ask.feature] ?? null },
      decision,
      spent,
      left: cap === null ? null : Math.max(0, cap - spent),
      unused: Object.keys(known).filter((name) => !used.has(name)),
      unseen,
      version: STEP.version,
    };
  }

  function isUnseen(name, value) {
    const feature = OFFLINE.description.features.find((each) => each.name === name);
    return feature !== undefined && feature.kind === "categorical" && !feature.categories.includes(value);
  }

  function answer(address, init) {
    const path = address.slice(address.lastIndexOf("v1/models"));
    if (path === "v1/models") {
      const { method, n_features } = OFFLINE.description;
      return { models: [{ ...STEP, method, n_features, fault: null }] };
    }
    if (path.endsWith("/next")) return next(JSON.parse(init.body));
    return { ...OFFLINE.description, ...STEP, fault: null };
  }

  globalThis.fetch = async (address, init) => {
    const reply = (body, status) => ({ ok: status < 400, status, statusText: "", json: async () => body });
    try {
      return reply(answer(String(address), init), 200);
    } catch (error) {
      return reply({ detail: error.message }, 422);
    }
  };
})();
