// minify.mjs SHEET…, started in the folder of a built site: minify the book's own scripts in place,
// join those of the workbench into one, and those of the search, and those that run models, join the
// style sheets into one without the rules that no page uses, and print its path.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { build } from "esbuild";
import { PurgeCSS } from "purgecss";

const sheets = process.argv.slice(2);
const shared = { minify: true, charset: "utf8", logLevel: "warning" };

// The theme, KaTeX and mkdocstrings have rules for all that a site might contain. The book's own
// rules stay: PurgeCSS misses an attribute that a script sets as a property, `ariaDisabled = true`.
const theirs = sheets.filter((sheet) => !sheet.startsWith("assets/css/"));
// Every table of the book has a class. Rules for tables without one would make a browser style
// every element again when the root's class changes. PurgeCSS drops a name that no page has.
const read = (sheet) => readFileSync(sheet, "utf8").replaceAll("table:not([class])", ".no-table");
const purged = await new PurgeCSS().purge({
  css: theirs.map((sheet) => ({ name: sheet, raw: read(sheet) })),
  content: ["**/*.html", "assets/js/**/*.js", "assets/javascripts/*.js"],
  // PurgeCSS drops a pseudo-class that stands alone in a list, as in `:is(:hover, :focus)`.
  safelist: [/^:/],
  // The ids of footnotes, as in `[id^="fnref:"]`, have a colon, at which PurgeCSS splits words.
  dynamicAttributes: ["id"],
  // The theme keeps colours from fading by a rule for every element, which each load would apply
  // and withdraw: every element would be styled twice.
  blocklist: ["data-md-color-switching"],
});
const rules = new Map(purged.map(({ file, css }) => [file, css]));
const purge = ({ onLoad }) =>
  onLoad({ filter: /\.css$/ }, ({ path }) => {
    const contents = rules.get(relative(".", path).replaceAll("\\", "/"));
    return contents === undefined ? null : { contents, loader: "css" };
  });

const { metafile } = await build({
  ...shared,
  stdin: {
    contents: sheets.map((sheet) => `@import "./${sheet}";`).join("\n"),
    loader: "css",
    resolveDir: ".",
  },
  bundle: true,
  // These files stay where they are; esbuild adapts their addresses.
  external: ["png", "svg", "woff2"].map((kind) => `${process.cwd()}/*.${kind}`),
  plugins: [{ name: "purge", setup: purge }],
  outdir: "assets",
  entryNames: "book.[hash]",
  metafile: true,
});

// Scripts of many small files, which are of use together only, and those files.
const whole = ["search.js", "workbench.js", "watch_worker.js"].map((name) => `assets/js/${name}`);
const parts = ["../built/search", "config", "search", "watch/model.js", "watch/rules.js", "watch/weights.js"];
await build({
  ...shared,
  entryPoints: whole.filter((script) => existsSync(script)),
  bundle: true,
  format: "esm",
  outdir: "assets/js",
  allowOverwrite: true,
});
for (const part of parts) rmSync(`assets/js/${part}`, { recursive: true, force: true });

await build({
  ...shared,
  entryPoints: ["assets/js/**/*.js"],
  outbase: "assets/js",
  outdir: "assets/js",
  allowOverwrite: true,
});

console.log(...Object.keys(metafile.outputs));
