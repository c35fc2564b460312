// The sum of messages: devices are asked in order.

const policy = {
  start(s) {
    s.outputs.set(T.START);
    s.device = 0;
  },
  wants: (s) => (s.device < N.FARTHING_FEATURES ? s.device : -1),
  hear(s, item) {
    s.flags[item] |= HEARD;
    s.device = item + 1;
    if (s.flags[item] & OWNED) s.answer.forEach((score, i) => { s.outputs[i] += score; });
  },
  refuse(s, item) {
    this.hear(s, item);
  },
  output: (s) => s.outputs,
};

// What each device does with its readings, an object of values by name: the message, or null if it stays silent.
function message(device, readings) {
  const { intercept, terms, threshold } = device, out = Float64Array.from(intercept);
  for (const { reading, category, mean, scale, coef } of terms) {
    const given = readings[reading], categories = device.categories[reading];
    const code = categories.length ? categories.indexOf(given) : given;
    if (given === null || given === undefined || (categories.length && code < 0)) continue;
    if (typeof code !== "number" && typeof code !== "boolean")
      throw new TypeError(`${reading} takes a number, or null if it is missing; got ${String(given)}`);
    if (!Number.isFinite(Number(code))) continue;
    const x = ((category === null ? Number(code) : Number(code === category)) - mean) / scale;
    coef.forEach((each, i) => { out[i] += x * each; });
  }
  return out[0] > threshold ? Array.from(out.slice(1)) : null;
}

export const devices = Object.fromEntries(
  MODEL.devices.map((device) => [device.name, { readings: Object.keys(device.categories), message: (readings) => message(device, readings) }]),
);
