import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, loaded } from '../../../test/support/gateways/configuration.ts';
import { FaultList } from './faults.ts';
import { substitute } from './substitute.ts';

function put(text: string, env: Record<string, string | undefined> = {}) {
  const faults = new FaultList();
  const { tree } = substitute({ a: text }, env, faults);
  return { text: Object(tree).a, faults: faults.all().map(({ message }) => message) };
}

test("an environment reference is replaced by the variable's value, also inside text, and only once", () => {
  assert.equal(put(`\${A}`, { A: 'x' }).text, 'x');
  assert.equal(put(`https://\${HOST}:\${PORT}/v1`, { HOST: 'h', PORT: '1' }).text, 'https://h:1/v1');
  assert.equal(put(`\${A}`, { A: `\${B}`, B: 'x' }).text, `\${B}`);
  assert.equal(put(`\${A}`, { A: '$& $1' }).text, '$& $1');
  assert.equal(put('$A {A} $', { A: 'x' }).text, '$A {A} $');
});

test('the default of an environment reference replaces an unset or empty variable', () => {
  assert.equal(put(`\${A:-x}`).text, 'x');
  assert.equal(put(`\${A:-x}`, { A: '' }).text, 'x');
  assert.equal(put(`\${A:-x}`, { A: 'y' }).text, 'y');
  assert.equal(put(`\${A:-}`).text, '');
  assert.equal(put(`\${A:-http://h:1/a-b}`).text, 'http://h:1/a-b');
});

test('$$ in a value is a literal dollar sign', () => {
  assert.deepEqual(put(`$\${A} \${B}`, { B: 'x' }), { text: `\${A} x`, faults: [] });
});

test("a reference to an unset variable is a fault with the variable's name and the line", async (t) => {
  const [fault] = await faultsOf(t, `server:\n  port: 1\n  host: \${MY_HOST}\n`);
  assert.deepEqual([fault?.line, fault?.path], [3, 'server.host']);
  assert.match(String(fault?.message), /MY_HOST is not set/);
});

test('several unset variables in one value are all named in the fault', () => {
  const { faults } = put(`\${A} \${B}`);
  assert.match(faults.join(), /variable A .*variable B /);
});

test('a malformed environment reference is a fault', () => {
  for (const text of [`\${`, `\${}`, `\${1A}`, `\${A-b}`, `\${A`, `\${A B}`, `\${A:b}`]) {
    assert.match(put(text, { A: 'x' }).faults.join(), /is not \$\{NAME\}/, text);
  }
});

test('environment variables may have names such as "constructor"', () => {
  assert.match(put(`\${constructor}`).faults.join(), /constructor is not set/);
});

test('environment references in keys of a mapping are not substituted', async (t) => {
  const faults = await faultsOf(t, `"\${A}": 1\n`, { env: { A: 'server' } });
  assert.deepEqual(
    faults.map(({ path }) => path),
    [`["\${A}"]`],
  );
});

test('an environment variable can give a number or boolean where one is expected', async (t) => {
  const text = `server: { port: "\${PORT}", diagnostics: "\${D}", workers: "\${W:-1}", log_client_address: "\${L}" }`;
  const { snapshot } = await loaded(t, text, { env: { PORT: '8080', D: 'false', L: 'True' } });
  assert.deepEqual(
    [snapshot.server.port, snapshot.server.diagnostics, snapshot.server.logClientAddress],
    [8080, false, true],
  );
});

test('a number in quotes is refused where a number is expected', async (t) => {
  const faults = await faultsOf(t, 'server: { port: "8080" }');
  assert.match(String(faults[0]?.message), /whole number from 0 to 65535; came: "8080"/);
});

test('a fault about the invalid value of a variable does not repeat the value', async (t) => {
  const faults = await faultsOf(t, `server: { port: "\${PORT}" }`, { env: { PORT: 'http' } });
  assert.equal(faults[0]?.message, 'wanted: a whole number from 0 to 65535; came: other text, of 4 characters');
});

test('a secret that consists of digits stays text', async (t) => {
  const digits = '123456789012345678901234567890';
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: openai, api_key: "\${KEY}" }]`, {
    env: { KEY: digits },
  });
  assert.deepEqual(snapshot.upstreams.get('a')?.credentials[0].headers, ['authorization', `Bearer ${digits}`]);
});
