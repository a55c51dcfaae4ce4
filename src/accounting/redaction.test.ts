import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressMark, credentialMark, numberMark, redact, toFieldPattern, withoutEscapes } from './redaction.ts';

const all = (text: string, secrets: readonly string[] = []): string => {
  const plain = withoutEscapes(text);
  return redact(plain, { secrets, fields: undefined }, plain.length);
};

const awsSecret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P';

for (const [what, secret, kept] of [
  ['a key of Postern', `pst_${'a1B2'.repeat(12)}`, credentialMark],
  ['a key of OpenAI', 'sk-proj-Ab12_34-xyz9', credentialMark],
  ['a live key of Stripe', 'sk_live_0123456789abcdef', credentialMark],
  ['a token of GitHub', `ghp_${'x9'.repeat(18)}`, credentialMark],
  ['a bearer token', 'Bearer abc.DEF-123~45', `Bearer ${credentialMark}`],
  ['a bearer token in capitals', 'BEARER abc.DEF-123~45', `BEARER ${credentialMark}`],
  ['a JSON web token', token, credentialMark],
  ['the ID of a key of AWS', 'AKIAIOSFODNN7EXAMPLE', credentialMark],
  ['a secret of AWS', awsSecret, credentialMark],
  ['an e-mail address', "max.o'neil+x@mail.example.co.uk", addressMark],
  ['an e-mail address in another alphabet', 'jürgen@exämple.de', addressMark],
  ['a card number', '4111111111111111', numberMark],
  ['a card number in groups', '4111 1111 1111 1111', numberMark],
  ['a card number with dashes', '3782-822463-10005', numberMark],
] as const) {
  test(`redacts ${what} anywhere in a text`, () => {
    for (const [before, after] of [
      ['', ''],
      ['say ', ', please.'],
      ['{"input":"', '"}'],
      ['{"input":["a\\n', '\\n"]}'],
      ['data: {"text":"', '"}\n\n'],
      ['(', ')'],
    ] as const) {
      assert.equal(all(`${before}${secret}${after}`), `${before}${kept}${after}`);
    }
  });
}

test('redacts the value of a field named like a secret, and keeps its name', () => {
  assert.equal(all('{"password":"hunter2hunter2"}'), `{"password":"${credentialMark}"}`);
  assert.equal(all('OPENAI_API_KEY=abcdefgh12345'), `OPENAI_API_KEY=${credentialMark}`);
  assert.equal(all(String.raw`{"input":"{\"clientSecret\": \"s3cr3t-s3cr3t\"}"}`).includes('s3cr3t'), false);
});

test('redacts a private key', () => {
  const text = String.raw`"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----\n"`;
  assert.equal(all(text).includes('MIIE'), false);
  assert.match(all(text), /BEGIN RSA PRIVATE KEY-----\[credential\]-----END/);
});

test('redacts every occurrence of an upstream credential', () => {
  const secret = 'plain words, but "secret"';
  assert.equal(all(`a ${secret} b ${secret}`, [secret]), `a ${credentialMark} b ${credentialMark}`);
});

test('finds secrets that are written with JSON escapes', () => {
  assert.equal(
    all(String.raw`{"input":"sk\u002dproj\u002dabcdefgh bob\u0040example.com"}`),
    `{"input":"${credentialMark} ${addressMark}"}`,
  );
  assert.equal(all(`{"input":"${awsSecret.replaceAll('/', '\\/')}"}`), `{"input":"${credentialMark}"}`);
});

test('keeps escapes that JSON needs, and text that only looks like an escape', () => {
  for (const text of [String.raw`"a\"b\\c\n\u0000\u001f\ud800"`, String.raw`"\\u0041"`, 'plain', '"\\']) {
    assert.equal(withoutEscapes(text), text);
  }
  assert.equal(withoutEscapes(String.raw`"\u00e9 \ud83d\ude00 \/ \u0022"`), String.raw`"é 😀 / \u0022"`);
});

test('leaves ordinary text, numbers and hashes unchanged', () => {
  for (const text of [
    'risk-adjusted returns, task-force-management and sk-learn',
    '{"embedding":[0.12345678901234567,-0.0000000000000001234567890123,1e-7],"index":0}',
    '{"input":[15496,995,1917,12345678],"created":1795262400}',
    'a@b, @someone, me@localhost and 2026-11-21 10:00:00',
    'the bearer of news; a basic idea',
    'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '{"max_tokens":16,"password":"short"}',
  ]) {
    assert.equal(all(text), text);
  }
});

test('drops a secret that the end of a truncated text cuts off, and everything after it', () => {
  const text = `${'x '.repeat(10)}sk-abcdefghijklmnop and bob@example.com`;
  for (let most = 0; most <= text.length; most += 1) {
    const kept = redact(text, { secrets: [], fields: undefined }, most);
    assert.equal(kept.includes('sk-'), false, `at ${most}: ${kept}`);
    assert.equal(kept.includes('bob'), false, `at ${most}: ${kept}`);
    assert.ok(kept.startsWith(text.slice(0, Math.min(most, 20))));
  }
});

test('redacts overlapping matches as one', () => {
  assert.equal(all('api_key=sk-abcdefgh12345678@example.com', ['k-abcdefgh12345678@ex']).includes('example'), false);
});

test('redacting takes linear time on any text', () => {
  for (const piece of [
    'a',
    '1 ',
    '1',
    'a@',
    'eyJ',
    '\\',
    '-----BEGIN PRIVATE KEY-----',
    'Bearer ',
    'password=',
    'A1a/',
  ]) {
    const text = piece.repeat(Math.ceil(80_000 / piece.length));
    // It would take minutes if a pattern were not linear.
    assert.ok(all(text).length > 0);
  }
});

test('withholds the values of fields that the operator listed, whatever their type', () => {
  const fields = toFieldPattern(['user', 'x.id']);
  const rows: [string, string][] = [
    ['{"user":"Ada","a":1}', '{"user":[withheld],"a":1}'],
    ['{"user" : "A\\"da" ,"a":1}', '{"user" : [withheld] ,"a":1}'],
    ['{"user":["a","b"],"a":1}', '{"user":[withheld],"a":1}'],
    ['{"user":{"name":"a"},"a":1}', '{"user":[withheld],"a":1}'],
    ['{"a":{"x.id":12.5},"xxid":1}', '{"a":{"x.id":[withheld]},"xxid":1}'],
    ['{"user":null}', '{"user":[withheld]}'],
    ['{"user":"cut in the mid', '{"user":[withheld]'],
    ['{"users":"Ada","User":"Ada"}', '{"users":"Ada","User":"Ada"}'],
    ['{"user":[{"a":["b"]},"c"],"a":1}', '{"user":[withheld],"a":1}'],
    ['{"user":[ "a ] b", {"c":"}"}, 1 ],"a":1}', '{"user":[withheld],"a":1}'],
    ['{"user":{"a":{"b":1},"c":"\\\\"},"a":1}', '{"user":[withheld],"a":1}'],
    ['[{"user":1},{"user":{"a":[{"b":"cut', '[{"user":[withheld]},{"user":[withheld]'],
    // A JSON text within a JSON text.
    ['{"arguments":"{\\"user\\":\\"A\\\\\\"da\\",\\"a\\":1}"}', '{"arguments":"{\\"user\\":[withheld],\\"a\\":1}"}'],
    [
      '{"arguments":"{\\"user\\":[[1],\\"\\\\\\\\\\"],\\"a\\":1}"}',
      '{"arguments":"{\\"user\\":[withheld],\\"a\\":1}"}',
    ],
    ['{"arguments":"{\\"user\\":{\\"b\\":\\"cut","a":1}', '{"arguments":"{\\"user\\":[withheld]","a":1}'],
  ];
  for (const [text, kept] of rows) assert.equal(redact(text, { secrets: [], fields }, text.length), kept);
  assert.equal(toFieldPattern([]), undefined);
});

test('matching configured field names takes linear time on any text', () => {
  const fields = toFieldPattern(['user']);
  for (const piece of ['"user":"', '"user":[', '"user":"\\', '\\"user\\":[', '"user":1\\']) {
    const text = `"user":1,${piece.repeat(20_000)}`;
    assert.ok(redact(text, { secrets: [], fields }, text.length).startsWith('"user":[withheld],'));
  }
  const text = `"user":"${'\\'.repeat(80_000)}`;
  assert.equal(redact(text, { secrets: [], fields }, text.length), '"user":[withheld]');
});
