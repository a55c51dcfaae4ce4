import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { until } from '../../../test/support/time/until.ts';
import { watchConfiguration } from '../live/live.ts';
import { loadConfiguration } from '../load.ts';

const secret = 's'.repeat(24);

async function startWith(t: TestContext, files: Readonly<Record<string, string>>, env = {}) {
  const cwd = await createDirectory(t, files);
  const load = () => loadConfiguration({ env, families: sampleFamilies, cwd });
  return { cwd, load };
}

test('lists of included files are joined in the order of file names, and other sections may occur in one file only', async (t) => {
  const { cwd, load } = await startWith(
    t,
    {
      'postern.yaml': `include: ["\${DIRECTORY}/*.yaml", more.json]\nserver: { port: 4100 }\nupstreams: [{ id: up, family: openai, api_key: k }]\n`,
      'conf.d/b.yaml': '# b\nmodels:\n  - id: b\n    targets: [{ upstream: up }]\n',
      'conf.d/a.yaml': `models:\n  - { id: a, targets: [{ upstream: up }] }\nkeys:\n  - { id: k, secret: ${secret} }\n`,
      'conf.d/.hidden.yaml': 'nonsense: true',
      'more.json': '{"ledger":{"retention":"7d"},"models":[{"id":"c","targets":[{"upstream":"up"}]}]}',
    },
    { DIRECTORY: 'conf.d' },
  );
  const found = await load();
  if (!found.ok) assert.fail(JSON.stringify(found.faults));
  assert.deepEqual(
    found.snapshot.models.all.map(({ id }) => id),
    ['a', 'b', 'c'],
  );
  assert.equal(found.snapshot.server.port, 4100);
  assert.deepEqual((await found.declared()).find(({ id }) => id === 'b')?.place, {
    file: join('conf.d', 'b.yaml'),
    line: 3,
  });
  assert.deepEqual(found.keyPositions.get('k'), { file: join('conf.d', 'a.yaml'), line: 4 });
  for (const file of ['postern.yaml', 'conf.d', 'conf.d/a.yaml', 'conf.d/b.yaml', 'more.json']) {
    assert.ok(found.files.includes(join(cwd, file)), file);
  }
});

test('a fault in an included file gives that file and its line', async (t) => {
  const { cwd, load } = await startWith(t, {
    'postern.yaml':
      'include: [a.yaml, b.yaml, d.yaml, gone.yaml, "none/*.yaml", postern.yaml, 7]\nserver: { port: 4100 }\nupstreams: [{ id: up, family: openai, api_key: k }]\nmodels: [{ id: m, targets: [{ upstream: up }] }]\n',
    'a.yaml':
      'models:\n  - { id: x, targets: [{ upstream: nobody }] }\n  - id: m\n    targets: [{ upstream: up }]\ninclude: [c.yaml]\nserver: { host: 1.2.3.4 }\n',
    'b.yaml': 'models: [',
    'd.yaml': 'models: [{ id: x, targets: [{ upstream: up }] }]',
  });
  const found = await load();
  assert.ok(!found.ok);
  assert.deepEqual(
    found.faults.map(({ origin, line, path, message }) => [origin, line, path, message]),
    [
      [undefined, 1, 'include', 'names this file itself; take it out'],
      [undefined, 1, 'include[6]', 'wanted: the path of a file; came: 7; put it in quotes to make it text'],
      ['a.yaml', 2, 'models[0].targets[0].upstream', 'unknown upstream "nobody"; declare it under upstreams'],
      ['a.yaml', 3, 'models[1].id', '"m" is taken by models[0].id (line 4); each name stands for one thing'],
      ['a.yaml', 5, 'include', 'stands in a file that is itself included; name the files in the first one'],
      ['a.yaml', 6, 'server', `stands in ${join(cwd, 'postern.yaml')} too; keep one of the two`],
      ['b.yaml', 1, '', 'the indentation does not fit, or a bracket is not closed'],
      ['d.yaml', 1, 'models[0].id', '"x" is taken by models[0].id (a.yaml, line 2); each name stands for one thing'],
      ['gone.yaml', undefined, '', 'the configuration file cannot be used: there is no such file'],
    ],
  );
});

test('a warning about an included file gives that file, line and path', async (t) => {
  const up = '{ id: up, family: openai, api_key: k }';
  const ranks = (id: string) =>
    `{ id: ${id}, operations: [completions], space: s, targets: [{ upstream: up, model: x }] }`;
  const { load } = await startWith(t, {
    'postern.yaml': `include: ["conf.d/*.yaml"]\nupstreams: [${up}]\nmodels:\n  - ${ranks('own')}\n`,
    'conf.d/a.yaml': `models:\n  - { id: good, operations: [embeddings], targets: [{ upstream: up }] }\n  - ${ranks('r')}\n`,
    'conf.d/b.yaml': `upstreams:\n  - { id: bare, family: openai }\nmodels:\n  - ${ranks('s')}\n`,
  });
  const found = await load();
  if (!found.ok) assert.fail(JSON.stringify(found.faults));
  const warning = 'has no effect, as the model does not serve embeddings';
  const [a, b] = [join('conf.d', 'a.yaml'), join('conf.d', 'b.yaml')];
  const expected = [
    `models[0].space ${warning}`,
    `${a}:3 models[1].space ${warning}`,
    `${b}:4 models[0].space ${warning}`,
  ];
  assert.deepEqual(
    found.warnings.filter((one) => one.endsWith(warning)),
    expected,
  );
  assert.ok(
    found.warnings.some((warning) => warning.startsWith(`${b}:2 upstreams[0] has no credential`)),
    found.warnings.join('\n'),
  );
});

test('a new file that matches an include pattern is noticed', async (t) => {
  const { cwd, load } = await startWith(t, { 'postern.yaml': 'include: ["conf.d/*.yaml"]\n' });
  await mkdir(join(cwd, 'conf.d'));
  const found = await load();
  if (!found.ok) assert.fail(JSON.stringify(found.faults));
  assert.ok(found.warnings.some((warning) => warning === 'include[0]: no file has such a name'));
  const changed = Promise.withResolvers<void>();
  let looks = 0;
  const watch = watchConfiguration({
    files() {
      looks += 1;
      return found.files;
    },
    readAtMs: () => Date.now(),
    intervalMs: 5,
    onChange: changed.resolve,
  });
  t.after(() => watch.stop());
  // Later polls are compared with the first one.
  await until(() => looks >= 2);
  await writeFile(join(cwd, 'conf.d/a.yaml'), `keys: [{ id: k, secret: ${secret} }]\n`);
  await changed.promise;
  const again = await load();
  assert.ok(again.ok && again.snapshot.keys.size === 1);
});
