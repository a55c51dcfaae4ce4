import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findModuleImports, readSources, withoutImplied } from './modules/imports.ts';
import { drawMap } from './modules/map.ts';
import { type Layer, modules } from './modules/modules.ts';
import { requestPath } from './modules/request-path.ts';
import { pathOf, renderArchitecture } from './modules/table.ts';

const module = (name: string) => ({ name, path: `src/${name}`, brief: name, owns: name, firstFile: 'index.ts' });
const sample: readonly Layer[] = [
  { title: 'above', modules: [module('above')] },
  { title: 'beside', modules: [module('one'), module('other')] },
  { title: 'below', modules: [module('below')] },
];
const firstFiles = Object.fromEntries(
  sample.flatMap((layer) => layer.modules).map(({ path }) => [`${path}/index.ts`, '']),
);
const importsOf = (files: Readonly<Record<string, string>>) =>
  findModuleImports(new Map(Object.entries({ ...firstFiles, ...files })), sample);

test('the architecture diagram has the imports between modules, without transitive ones', () => {
  const imports = importsOf({
    'src/above/a.ts': "import { b } from '../one/b.ts';\nimport type { c } from '../below/c.ts';",
    'src/one/b.ts': "export { c } from '../below/c.ts';",
  });
  assert.deepEqual([...(imports.get('above') ?? [])], ['one', 'below']);
  assert.deepEqual([...(withoutImplied(imports).get('above') ?? [])], ['one']);
  assert.deepEqual([...(imports.get('other') ?? [])], []);
});

test('refuses imports to higher or sibling layers, files outside all modules, and a module without its first file', () => {
  const up = { 'src/below/x.ts': "import { a } from '../above/a.ts';" };
  assert.throws(() => importsOf(up), /src\/below\/x\.ts imports \.\.\/above\/a\.ts: .*above is not below below/);
  const beside = { 'src/one/x.ts': "const a = await import('../other/a.ts');" };
  assert.throws(() => importsOf(beside), /other is not below one/);
  assert.throws(() => importsOf({ 'src/attic/x.ts': '' }), /src\/attic\/x\.ts is in no module/);
  const { 'src/other/index.ts': _, ...rest } = firstFiles;
  assert.throws(
    () => findModuleImports(new Map(Object.entries(rest)), sample),
    /the first file of other, .* is missing/,
  );
});

test('folders named in the table of modules exist', () => {
  for (const { path, owns } of modules) {
    for (const [, folder = ''] of owns.matchAll(/`([\w-]+)\/`/g)) {
      assert.notEqual(globSync(`${path}/**/${folder}/`).length, 0, `${path} has no folder ${folder}`);
    }
  }
});

test('every module is in the architecture diagram and in the table of modules', () => {
  const drawn = drawMap(findModuleImports(readSources()));
  const table = renderArchitecture();
  for (const { name, path } of modules) {
    assert.ok(drawn.includes(`>${name}</text>`), name);
    assert.ok(table.includes(`\`${path}\``), path);
  }
});

for (const [index, step] of requestPath.entries()) {
  test(`step ${index + 1} of a request: ${pathOf(step)} has ${step.functions.join(', ')}`, () => {
    assert.ok(step.functions.length > 0);
    for (const name of step.functions) assertDeclared(pathOf(step), name);
    for (const name of step.direct) assertDeclared('src/direct/path.ts', name);
  });
}

function assertDeclared(path: string, name: string): void {
  const declared = new RegExp(`(?:function|class|const) ${name}\\b|^\\s+(?:async )?${name}\\(`, 'm');
  assert.match(
    readFileSync(path, 'utf8'),
    declared,
    `there is no ${name} in ${path}; edit tools/modules/request-path.ts`,
  );
}
