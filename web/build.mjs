// Bundles template, style and script into the one file that the service answers with; --check only compares.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL("./", import.meta.url);
const page = new URL("../src/farthing/service/page.html", here);

async function bundled(entry) {
  const made = await build({
    entryPoints: [new URL(entry, here).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
  });
  const text = made.outputFiles[0].text.trim();
  if (/<\/(script|style)/i.test(text)) throw new Error(`${entry} would end its own element`);
  return text;
}

const template = await readFile(new URL("template.html", here), "utf8");
const [style, script] = await Promise.all([bundled("src/style.css"), bundled("src/main.ts")]);
const made = template.replace("/*STYLE*/", () => style).replace("/*SCRIPT*/", () => script);
if (process.argv.includes("--check")) {
  if ((await readFile(page, "utf8")) !== made) {
    console.error("src/farthing/service/page.html is not what the sources in web/ give; run: npm run build");
    process.exit(1);
  }
} else {
  await writeFile(page, made);
  console.log(`page.html: ${made.length} characters`);
}
