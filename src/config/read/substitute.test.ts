import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, loaded } from '../../../test/support/gateways/configuration.ts';
import { createFaultList } from './faults.ts';
import { substitute } from './substitute.ts';

function put(text: string, env: Record<string, string | undefined> = {}) {
  const faults = createFaultList(() => undefined);
  const { tree } = substitute({ a: text }, env, faults);
  return { text: Object(tree).a, faults: faults.all().map(({ message }) => message) };
}

test('a reference becomes what the variable holds, in the middle of text too, and no further', () => {
  assert.equal(put(`\${A}`, { A: 'x' }).text, 'x');
  assert.equal(put(`https://\${HOST}:\${PORT}/v1`, { HOST: 'h', PORT: '1' }).text, 'https://h:1/v1');
  assert.equal(put(`\${A}`, { A: `\${B}`, B: 'x' }).text, `\${B}`);
  assert.equal(put(`\${A}`, { A: '$& $1' }).text, '$& $1');
  assert.equal(put('$A {A} $', { A: 'x' }).text, '$A {A} $');
});

test('a default stands in for a variable that is not set or empty', () => {
  assert.equal(put(`\${A:-x}`).text, 'x');
  assert.equal(put(`\${A:-x}`, { A: '' }).text, 'x');
  assert.equal(put(`\${A:-x}`, { A: 'y' }).text, 'y');
  assert.equal(put(`\${A:-}`).text, '');
  assert.equal(put(`\${A:-http://h:1/a-b}`).text, 'http://h:1/a-b');
});

test('a doubled dollar spells a literal reference', () => {
  assert.deepEqual(put(`$\${A} \${B}`, { B: 'x' }), { text: `\${A} x`, faults: [] });
});

test('a variable that is not set is a fault that names it, with the line', async (t) => {
  const [fault] = await faultsOf(t, `server:\n  port: 1\n  host: \${MY_HOST}\n`);
  assert.deepEqual([fault?.line, fault?.path], [3, 'server.host']);
  assert.match(String(fault?.message), /MY_HOST is not set/);
});

test('several variables that are not set in one value are all named', () => {
  const { faults } = put(`\${A} \${B}`);
  assert.match(faults.join(), /variable A .*variable B /);
});

test('what is no reference is a fault', () => {
  for (const text of [`\${`, `\${}`, `\${1A}`, `\${A-b}`, `\${A`, `\${A B}`, `\${A:b}`]) {
    assert.match(put(text, { A: 'x' }).faults.join(), /is not \$\{NAME\}/, text);
  }
});

test('names that every object has are variables like any other', () => {
  assert.match(put(`\${constructor}`).faults.join(), /constructor is not set/);
});

test('keys are left alone', async (t) => {
  const faults = await faultsOf(t, `"\${A}": 1\n`, { env: { A: 'server' } });
  assert.deepEqual(
    faults.map(({ path }) => path),
    [`["\${A}"]`],
  );
});

test('a variable can spell a number or a truth value where one is wanted', async (t) => {
  const text = `server: { port: "\${PORT}", diagnostics: "\${D}", workers: "\${W:-1}", log_client_address: "\${L}" }`;
  const { snapshot } = await loaded(t, text, { env: { PORT: '8080', D: 'false', L: 'True' } });
  assert.deepEqual(
    [snapshot.server.port, snapshot.server.diagnostics, snapshot.server.logClientAddress],
    [8080, false, true],
  );
});

test('text in quotes is no number, unless it came from the environment', async (t) => {
  const faults = await faultsOf(t, 'server: { port: "8080" }');
  assert.match(String(faults[0]?.message), /whole number from 0 to 65535; came: "8080"/);
});

test('a variable that spells something else is a fault that does not repeat it', async (t) => {
  const faults = await faultsOf(t, `server: { port: "\${PORT}" }`, { env: { PORT: 'http' } });
  assert.equal(faults[0]?.message, 'wanted: a whole number from 0 to 65535; came: other text, of 4 characters');
});

test('a secret of digits stays text', async (t) => {
  const digits = '123456789012345678901234567890';
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: openai, api_key: "\${KEY}" }]`, {
    env: { KEY: digits },
  });
  assert.deepEqual(snapshot.upstreams.get('a')?.credentials[0].headers, ['authorization', `Bearer ${digits}`]);
});
