// A page within a sandboxed frame of a notebook may not use the browser's storage or history: it keeps its state
// in memory, for as long as the cell is shown.

(() => {
  const memory = new Map();
  const storage = {
    getItem: (name) => memory.get(name) ?? null,
    setItem: (name, value) => void memory.set(name, String(value)),
    removeItem: (name) => void memory.delete(name),
  };
  for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(globalThis, name, { value: storage });
  history.pushState = () => {};
  history.replaceState = () => {};
})();
