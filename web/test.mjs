// Bundles the tests, since Node runs JavaScript only, and runs them.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const folder = new URL("./test/", import.meta.url).pathname;
const entries = (await readdir(folder)).filter((name) => name.endsWith(".test.ts")).map((name) => join(folder, name));
const made = await mkdtemp(join(tmpdir(), "farthing-page-"));
await build({ entryPoints: entries, bundle: true, platform: "node", format: "esm", outdir: made, outExtension: { ".js": ".mjs" } });
const files = (await readdir(made)).map((name) => join(made, name));
const run = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
await rm(made, { recursive: true });
process.exit(run.status ?? 1);
