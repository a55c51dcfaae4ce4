import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import * as z from 'zod';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import type { SignedCall, Signer, SigningTools } from '../../core/family.ts';
import { googleSigner } from './google.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const account = {
  type: 'service_account',
  project_id: 'p-1',
  private_key_id: 'k-1',
  private_key: pem,
  client_email: 'gateway@p-1.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.test/token',
};

const call: SignedCall = { url: 'https://aiplatform.test/', headers: [], body: Buffer.alloc(0) };

function signerOf(document: object | string): Signer {
  const signer = googleSigner(typeof document === 'string' ? document : JSON.stringify(document, null, 2));
  assert.ok(typeof signer !== 'string', String(signer));
  return signer;
}

interface Endpoint {
  readonly tools: SigningTools;
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly posts: { readonly url: string; readonly form: URLSearchParams }[];
  /** For the next exchanges. */
  answer: () => Promise<{ status: number; body: string }>;
}

/** Returns `token-1`, `token-2` and so on, valid for an hour each. */
function startEndpoint(): Endpoint {
  const clock = createFakeClock();
  const posts: { url: string; form: URLSearchParams }[] = [];
  const endpoint: Endpoint = {
    clock,
    posts,
    tools: {
      nowMs: () => clock.nowMs(),
      post(url, _headers, body) {
        posts.push({ url, form: new URLSearchParams(body) });
        return endpoint.answer();
      },
    },
    answer: () =>
      Promise.resolve({
        status: 200,
        body: JSON.stringify({ access_token: `token-${posts.length}`, expires_in: 3599, token_type: 'Bearer' }),
      }),
  };
  return endpoint;
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test('a configured Google access token is sent unchanged', async () => {
  const { tools, posts } = startEndpoint();
  assert.deepEqual(await signerOf('ya29.token')(call, tools), ['authorization', 'Bearer ya29.token']);
  assert.equal(posts.length, 0);
});

test('the assertion for a Google token has issuer, scope, audience and lifetime, and is signed with the key', async () => {
  const { tools, posts, clock } = startEndpoint();
  assert.deepEqual(await signerOf(account)(call, tools), ['authorization', 'Bearer token-1']);
  const [{ url, form } = assert.fail('nothing was asked for')] = posts;
  assert.equal(url, account.token_uri);
  assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  assert.ok(
    verify(
      'sha256',
      signed,
      createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      Buffer.from(signature, 'base64url'),
    ),
  );
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
  assert.deepEqual(read(head), { alg: 'RS256', typ: 'JWT', kid: 'k-1' });
  const nowS = clock.nowMs() / 1000;
  assert.deepEqual(read(claims), {
    iss: account.client_email,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: account.token_uri,
    iat: nowS,
    exp: nowS + 3600,
  });
});

test('concurrent calls that need a Google token share one token request, and later calls need none', async () => {
  const { tools, posts } = startEndpoint();
  const signer = signerOf(account);
  const made = await Promise.all(Array.from({ length: 100 }, () => signer(call, tools)));
  assert.equal(new Set(made.map(([, value]) => value)).size, 1);
  await signer(call, tools);
  assert.equal(posts.length, 1);
});

test('a Google token is renewed once, in the background, before it expires', async () => {
  const { tools, posts, clock } = startEndpoint();
  const signer = signerOf(account);
  await signer(call, tools);
  clock.advance(54 * 60_000);
  await signer(call, tools);
  assert.equal(posts.length, 1);
  clock.advance(60_000);
  const [first, second] = await Promise.all([signer(call, tools), signer(call, tools)]);
  assert.deepEqual([first?.[1], second?.[1]], ['Bearer token-1', 'Bearer token-1']);
  await soon();
  assert.equal(posts.length, 2);
  assert.deepEqual((await signer(call, tools))[1], 'Bearer token-2');
  assert.deepEqual(signer.secrets?.().slice(0, 2), ['token-2', 'token-1']);
});

test('an expired Google token is never sent', async () => {
  const { tools, posts, clock } = startEndpoint();
  const signer = signerOf(account);
  await signer(call, tools);
  clock.advance(59 * 60_000);
  assert.deepEqual((await signer(call, tools))[1], 'Bearer token-2');
  assert.equal(posts.length, 2);
});

test('while the token endpoint fails, the current token is used and retries are spaced out', async () => {
  const endpoint = startEndpoint();
  const { tools, posts, clock } = endpoint;
  const signer = signerOf(account);
  await signer(call, tools);
  endpoint.answer = () => Promise.resolve({ status: 503, body: 'busy' });
  clock.advance(56 * 60_000);
  for (let i = 0; i < 5; i += 1) {
    assert.deepEqual((await signer(call, tools))[1], 'Bearer token-1');
    await soon();
  }
  assert.equal(posts.length, 2);
  clock.advance(10_000);
  await signer(call, tools);
  await soon();
  assert.equal(posts.length, 3);
  clock.advance(3 * 60_000);
  await assert.rejects(async () => signer(call, tools), /the token endpoint answered 503$/);
});

test('a failure to get a Google token is reported without the content of request or response', async () => {
  const endpoint = startEndpoint();
  const { tools } = endpoint;
  const signer = signerOf(account);
  const rows: [answer: () => Promise<{ status: number; body: string }>, expected: RegExp][] = [
    [
      () => Promise.resolve({ status: 400, body: JSON.stringify({ error: 'invalid_grant', error_description: pem }) }),
      /^the token endpoint answered 400 \(invalid_grant\)$/,
    ],
    [() => Promise.resolve({ status: 401, body: JSON.stringify({ error: pem }) }), /^the token endpoint answered 401$/],
    [() => Promise.resolve({ status: 302, body: '' }), /^the token endpoint answered 302$/],
    [() => Promise.resolve({ status: 200, body: `{"access_token":"half-a-tok` }), /without a token$/],
    [() => Promise.resolve({ status: 200, body: '{"access_token":"a\\r\\nb"}' }), /without a token$/],
    [() => Promise.resolve({ status: 200, body: '{"access_token":"a","expires_in":0}' }), /without a token$/],
    [() => Promise.reject(new Error('connect ECONNREFUSED')), /cannot be asked: connect ECONNREFUSED$/],
  ];
  for (const [answer, expected] of rows) {
    endpoint.answer = answer;
    await assert.rejects(
      async () => signer(call, tools),
      (error: Error) => {
        assert.match(error.message, expected);
        assert.ok(!/half-a|BEGIN/.test(error.message), error.message);
        return true;
      },
    );
  }
});

test('an invalid Google credential is refused when the configuration is read, and not repeated', () => {
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rows: [document: string | object, expected: RegExp][] = [
    ['{"type":', /wanted: the JSON file/],
    ['two words', /wanted: the JSON file/],
    ['["a", 1]', /wanted: the JSON file/],
    [{ ...account, type: 'authorized_user' }, /its type cannot be used/],
    [{ ...account, private_key: undefined, client_email: 7 }, /its client_email, private_key cannot be used/],
    [{ ...account, private_key: pem.slice(0, 200) }, /no RSA key/],
    [{ ...account, private_key: elliptic.export({ type: 'pkcs8', format: 'pem' }) }, /no RSA key/],
    [{ ...account, token_uri: 'http://oauth2.test/token' }, /no https/],
    [{ ...account, token_uri: 'oauth2' }, /no https/],
  ];
  for (const [document, expected] of rows) {
    const why = googleSigner(typeof document === 'string' ? document : JSON.stringify(document));
    assert.ok(typeof why === 'string', String(expected));
    assert.match(why, expected);
    assert.ok(!why.includes(pem.slice(40, 60)));
  }
});

test('the lines of a Google private key are secrets, except those that all keys have', () => {
  const secrets = signerOf(account).secrets?.() ?? [];
  assert.ok(secrets.length > 20, String(secrets.length));
  for (const secret of z.array(z.string()).parse(secrets)) assert.ok(pem.includes(secret) && !secret.startsWith('-'));
});
