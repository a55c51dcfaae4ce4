import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AdminAnswer, openAdmin } from '../../../../test/support/console/admin.ts';
import { oidcClient, startIdentityProvider } from '../../../../test/support/console/identity-provider.ts';
import type { SessionMethod, StoredMember } from '../../../core/store/members.ts';

const password = 'lantern moss gate';
const minuteMs = 60_000;
const ada = { sub: 'user-1', email: 'ada@example.com', email_verified: true, name: 'Ada' };

type Headers = Readonly<Record<string, string>>;

async function open(t: TestContext, configuration: Readonly<Record<string, unknown>> = {}) {
  const admin = await openAdmin(t, { signsIn: true, configuration });
  const { store, context, ask } = admin;
  const nowhere = { headers: new globalThis.Headers(), address: '::1' };

  async function addOwner(hasPassword = true): Promise<StoredMember> {
    const passwordHash = hasPassword ? await context.access.passwords.hash(password) : undefined;
    const made = await store.members.create({ email: ada.email, name: 'Ada', role: 'owner', passwordHash }, 'tester');
    assert.ok(made !== 'taken');
    return made;
  }

  /** A session that began long ago. */
  async function staleSession(member: StoredMember, method: SessionMethod = 'password'): Promise<Headers> {
    const { cookie, csrfToken } = await context.access.sessions.open(
      member,
      method,
      nowhere,
      Date.now() - 5 * minuteMs,
    );
    return { cookie: cookie.split(';', 1)[0] ?? '', 'x-postern-csrf': csrfToken };
  }

  const makeToken = (headers: Headers) => ask('POST', '/api/tokens', { name: 'ci', role: 'viewer' }, headers);
  return { ...admin, addOwner, staleSession, makeToken };
}

const asProved = ({ headers, json }: AdminAnswer): Headers => ({
  cookie: headers.getSetCookie()[0]?.split(';', 1)[0] ?? '',
  'x-postern-csrf': json.csrfToken,
});

const codeOf = ({ status, json }: AdminAnswer): [number, string] => [status, json?.code];

test('re-authentication by password starts a new session and ends the old one', async (t) => {
  const { ask, store, addOwner, staleSession, makeToken } = await open(t);
  const stale = await staleSession(await addOwner());
  assert.deepEqual(codeOf(await makeToken(stale)), [403, 'proof_needed']);
  const wrong = await ask('POST', '/api/me/proof', { password: 'another moss gate' }, stale);
  assert.deepEqual([wrong.status, wrong.json.fields[0].path], [422, 'password']);
  assert.deepEqual(codeOf(await makeToken(stale)), [403, 'proof_needed']);
  const proved = await ask('POST', '/api/me/proof', { password }, stale);
  assert.equal(proved.status, 200);
  assert.equal((await makeToken(asProved(proved))).status, 201);
  // A copy of the former cookie is useless.
  assert.deepEqual(codeOf(await makeToken(stale)), [401, 'sign_in_needed']);
  const entries = (await store.audit.page({ limit: 9 })).map(({ actor, action, subject }) => [actor, action, subject]);
  assert.ok(entries.some((entry) => entry.join() === 'console: ada@example.com,console.proof,ada@example.com'));
  assert.ok(entries.some((entry) => entry.join() === 'console,console.proof_failed,ada@example.com'));
});

test('repeated wrong passwords for re-authentication are delayed', async (t) => {
  const { ask, addOwner, staleSession } = await open(t);
  const stale = await staleSession(await addOwner());
  const guess = () => ask('POST', '/api/me/proof', { password: 'another moss gate' }, stale);
  const statuses = [];
  for (let turn = 0; turn < 6; turn += 1) statuses.push((await guess()).status);
  assert.deepEqual(statuses, [422, 422, 422, 422, 422, 429]);
});

test('a re-authentication is valid for under five minutes, even if the clock is set back', async (t) => {
  const { context, addOwner, makeToken } = await open(t);
  const member = await addOwner();
  const sessionFrom = async (provedAtMs: number) => {
    const origin = { headers: new globalThis.Headers(), address: '::1' };
    const { cookie, csrfToken } = await context.access.sessions.open(member, 'password', origin, provedAtMs);
    return { cookie: cookie.split(';', 1)[0] ?? '', 'x-postern-csrf': csrfToken };
  };
  const rows = [
    [-4 * minuteMs, 201],
    [-5 * minuteMs, 403],
    [0, 201],
    [6 * minuteMs, 403],
  ] as const;
  for (const [fromNowMs, status] of rows) {
    assert.equal((await makeToken(await sessionFrom(Date.now() + fromNowMs))).status, status, String(fromNowMs));
  }
});

test('a member without a password can set one only after re-authentication', async (t) => {
  const { ask, context, addOwner, staleSession } = await open(t);
  const member = await addOwner(false);
  const next = { next: password };
  const stale = await staleSession(member, 'passkey');
  assert.deepEqual(codeOf(await ask('POST', '/api/me/password', next, stale)), [403, 'proof_needed']);
  const origin = { headers: new globalThis.Headers(), address: '::1' };
  const opened = await context.access.sessions.open(member, 'passkey', origin);
  const fresh = { cookie: opened.cookie.split(';', 1)[0] ?? '', 'x-postern-csrf': opened.csrfToken };
  assert.equal((await ask('POST', '/api/me/password', next, fresh)).status, 200);
});

test("re-authentication accepts only the member's own passkeys and a signature for its own challenge", async (t) => {
  const { ask, store, addOwner, staleSession, makeToken } = await open(t, {
    console: { url: 'https://postern.example' },
  });
  const member = await addOwner(false);
  const key = { id: 'Y3JlZA', memberId: member.id, publicKey: new Uint8Array([1]), counter: 0, transports: [] };
  await store.passkeys.add({ ...key, name: 'key' }, 'tester');
  const stale = await staleSession(member, 'passkey');
  const options = await ask('POST', '/api/me/proof/passkey/options', {}, stale);
  assert.deepEqual(
    [options.status, options.json.userVerification, options.json.allowCredentials.map(({ id }: { id: string }) => id)],
    [200, 'required', ['Y3JlZA']],
  );
  assert.deepEqual(codeOf(await ask('POST', '/api/me/proof/passkey', { id: 'Y3JlZA' }, stale)), [
    401,
    'sign_in_failed',
  ]);
  assert.deepEqual(codeOf(await makeToken(stale)), [403, 'proof_needed']);
});

async function openWithProvider(t: TestContext) {
  const provider = await startIdentityProvider(ada);
  t.after(() => provider.close());
  const oidc = { issuer: provider.issuer, client_id: oidcClient.id, client_secret: oidcClient.secret };
  const rig = await open(t, { console: { oidc: { ...oidc, default_role: 'viewer' } } });

  /** Follows redirects as a browser. The session's cookie is not sent from another site. */
  async function go(path: string, session: Headers = {}) {
    const begun = await rig.ask('GET', path, undefined, session);
    const [memo = ''] = begun.headers.getSetCookie();
    const asked = new URL(begun.headers.get('location') ?? '', 'http://127.0.0.1:4001');
    if (memo === '') return { asked, location: decodeURIComponent(asked.href), session: undefined };
    const left = await fetch(asked, { redirect: 'manual' });
    const back = new URL(left.headers.get('location') ?? '');
    const cookie = memo.split(';', 1)[0] ?? '';
    const ended = await rig.ask('GET', `${back.pathname}${back.search}`, undefined, { cookie });
    const opened = ended.headers.getSetCookie().find((one) => one.startsWith('postern_session='));
    return {
      asked,
      location: decodeURIComponent(ended.headers.get('location') ?? ''),
      session: opened === undefined ? undefined : await withCsrf(opened.split(';', 1)[0] ?? ''),
    };
  }

  async function withCsrf(cookie: string): Promise<Headers> {
    const { json } = await rig.ask('GET', '/api/session', undefined, { cookie });
    return { cookie, 'x-postern-csrf': json.csrfToken };
  }

  const prove = (session: Headers) => go('/api/session/oidc?proof=fresh&page=/proved', session);
  return { ...rig, provider, prove, signIn: () => go('/api/session/oidc') };
}

const secondsAgo = (seconds: number): number => Math.floor(Date.now() / 1_000) - seconds;

test('an ordinary OIDC sign-in does not count as re-authentication', async (t) => {
  const { provider, addOwner, signIn, makeToken } = await openWithProvider(t);
  await addOwner(false);
  provider.claims = { ...ada, auth_time: secondsAgo(0) };
  const { asked, session } = await signIn();
  assert.equal(asked.searchParams.get('max_age'), null);
  assert.ok(session !== undefined);
  assert.deepEqual(codeOf(await makeToken(session)), [403, 'proof_needed']);
});

test('a fresh sign-in at the identity provider counts as re-authentication, from its auth_time', async (t) => {
  const { provider, store, addOwner, staleSession, prove, makeToken } = await openWithProvider(t);
  const member = await addOwner(false);
  const stale = await staleSession(member, 'oidc');
  provider.claims = { ...ada, auth_time: secondsAgo(120) };
  const { asked, location, session } = await prove(stale);
  assert.deepEqual([asked.searchParams.get('max_age'), location], ['0', '/proved']);
  assert.ok(session !== undefined);
  assert.equal((await makeToken(session)).status, 201);
  assert.deepEqual(codeOf(await makeToken(stale)), [401, 'sign_in_needed']);
  const [opened] = await store.sessions.listOf(member.id);
  assert.equal(opened?.provedAtMs, Number(provider.claims.auth_time) * 1_000);
  assert.equal((await store.audit.page({ action: 'console.proof', limit: 9 })).length, 1);
});

test("an old sign-in, a sign-in without auth_time, and another person's do not count as re-authentication", async (t) => {
  const { provider, store, addOwner, staleSession, prove, makeToken } = await openWithProvider(t);
  const stale = await staleSession(await addOwner(), 'oidc');
  const rows: readonly (readonly [object, RegExp])[] = [
    [{}, /does not send the time of your sign-in/],
    [{ auth_time: String(secondsAgo(0)) }, /did not confirm it/],
    [{ auth_time: secondsAgo(301) }, /did not ask you to sign in again/],
    [{ auth_time: secondsAgo(-400) }, /did not ask you to sign in again/],
    [{ auth_time: secondsAgo(0), sub: 'user-2', email: 'eve@example.com' }, /another person/],
  ];
  for (const [claims, why] of rows) {
    provider.claims = { ...ada, ...claims };
    const { location, session } = await prove(stale);
    assert.match(location, /^\/proved#problem=/);
    assert.match(location, why);
    assert.equal(session, undefined);
  }
  assert.deepEqual(codeOf(await makeToken(stale)), [403, 'proof_needed']);
  assert.equal((await store.members.list()).length, 1, 'and nobody becomes a member by it');
  assert.equal((await store.audit.page({ action: 'console.proof_failed', limit: 9 })).length, rows.length);
});

test("OIDC re-authentication needs a session, and its cookie does not contain the session's secrets", async (t) => {
  const { ask, addOwner, staleSession } = await openWithProvider(t);
  const nobody = await ask('GET', '/api/session/oidc?proof=fresh&page=/proved');
  assert.match(decodeURIComponent(nobody.headers.get('location') ?? ''), /^\/proved#problem=You are signed out/);
  const stale = await staleSession(await addOwner(), 'oidc');
  const begun = await ask('GET', '/api/session/oidc?proof=fresh&page=/proved', undefined, stale);
  const [, value = ''] = /^postern_oidc=([\w-]+);/.exec(begun.headers.getSetCookie()[0] ?? '') ?? [];
  const kept = JSON.parse(Buffer.from(value, 'base64url').toString('utf8'));
  assert.deepEqual(Object.keys(kept.proves), ['memberId', 'sessionId']);
  assert.equal(JSON.stringify(kept).includes(stale['x-postern-csrf'] ?? '-'), false);
});
