/**
 * `npm run shape`: measures the size of code and docs. `--check` fails if `src` or the console has more lines or files than tools/shape.json
 * allows: a change that needs more removes something else, or raises the figure with a reason in an ADR.
 */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Ceiling {
  readonly lines: number;
  readonly files: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const ceilings: Readonly<Record<string, Ceiling>> = JSON.parse(readFileSync(join(root, 'tools/shape.json'), 'utf8'));

const shapes = Object.fromEntries(Object.keys(ceilings).map((folder) => [folder, shapeOf(folder)]));
if (values.check) {
  for (const [folder, most] of Object.entries(ceilings)) {
    const { lines = 0, files = 0 } = shapes[folder] ?? {};
    if (lines <= most.lines && files <= most.files) continue;
    console.log(`${folder}: ${lines} lines in ${files} files; tools/shape.json allows ${most.lines} in ${most.files}.`);
    process.exitCode = 1;
  }
} else {
  console.table(shapes);
  console.table({ 'docs, without generated pages': docs() });
}

/** Figures of a folder's files, without tests. */
function shapeOf(folder: string) {
  const files = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).filter((file) => !/\.test\.tsx?$/.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const lengths = [...texts.values()].map((text) => text.split('\n').length - 1).toSorted((a, b) => a - b);
  const importers = new Map<string, number>();
  let imports = 0;
  for (const [file, text] of texts) {
    for (const [, from = ''] of text.matchAll(/\bfrom '(\.[^']+)'/g)) {
      imports += 1;
      const target = join(dirname(file), from);
      importers.set(target, (importers.get(target) ?? 0) + 1);
    }
  }
  return {
    files: files.length,
    lines: lengths.reduce((sum, length) => sum + length, 0),
    median: lengths[lengths.length >> 1] ?? 0,
    'under 40 lines': lengths.filter((length) => length < 40).length,
    'one importer': files.filter((file) => importers.get(file) === 1).length,
    'imports a file': Math.round((10 * imports) / Math.max(files.length, 1)) / 10,
  };
}

/** Figures of the docs' prose, without code and tables. */
function docs() {
  const generated = new Set(['docs/reference/compatibility.md', 'docs/reference/reliability-figures.md']);
  const pages = globSync(['docs/*.md', 'docs/{guides,reference,explanations}/*.md', 'README.md', 'CONTRIBUTING.md'], {
    cwd: root,
  }).filter((page) => !generated.has(page));
  let words = 0;
  let proseWords = 0;
  let sentences = 0;
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8');
    words += text.split(/\s+/).length;
    const prose = text.replaceAll(/^```.*?^```/gms, '').replaceAll(/^[|#].*$/gm, '');
    proseWords += prose.split(/\s+/).length;
    sentences += [...prose.matchAll(/[.:;?!](?=\s)/g)].length;
  }
  return { pages: pages.length, words, 'words a sentence': Math.round((10 * proseWords) / sentences) / 10 };
}
