import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { createSecretWith, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';
import { openStore } from '../../store/open-store.ts';
import { createAccess } from './access.ts';
import { createSessions, type OpenedSession } from './sessions.ts';

const hourMs = 3_600_000;

async function open(t: TestContext, isSecure = false) {
  const clock = createFakeClock();
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  const member = await store.members.create({ email: 'ada@example.com', name: 'Ada', role: 'owner' }, 'tester');
  assert.ok(member !== 'taken');
  const sessions = createSessions({ store, clock, isSecure: () => isSecure });
  const start = (headers = new Headers()) => sessions.open(member, 'password', { headers, address: '::1' });
  return { clock, store, sessions, start };
}

const cookieOf = ({ cookie }: OpenedSession): Headers => new Headers({ cookie: cookie.split(';', 1)[0] ?? '' });

test('the session cookie is host-only, HttpOnly and SameSite', async (t) => {
  const plain = await open(t);
  const form = /^postern_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/;
  assert.match((await plain.start()).cookie, form);
  const secure = await open(t, true);
  const opened = await secure.start();
  assert.match(opened.cookie, /^__Host-postern=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  assert.notEqual(await secure.sessions.find(cookieOf(opened)), undefined);
  // A cookie without the prefix is ignored, so that nobody on a plain http path can set one.
  const renamed = cookieOf(opened).get('cookie')?.replace('__Host-postern', 'postern_session') ?? '';
  assert.equal(await secure.sessions.find(new Headers({ cookie: renamed })), undefined);
  assert.match(secure.sessions.clearingCookie(), /^__Host-postern=; Max-Age=0; Path=\/; HttpOnly; .*Secure$/);
});

test('the store does not contain the secret of the session cookie', async (t) => {
  const { start, sessions, store } = await open(t);
  const opened = await start();
  const secret = /=([\w-]+);/.exec(opened.cookie)?.[1] ?? '';
  const text = JSON.stringify([await store.sessions.listOf(opened.member.id), await store.audit.page({ limit: 10 })]);
  for (const part of [secret, opened.csrfToken]) assert.equal(text.includes(part), false);
  assert.notEqual(opened.csrfToken, secret);
  assert.equal((await sessions.find(cookieOf(opened)))?.csrfToken, opened.csrfToken);
});

test('a session ends after twelve hours idle, and after a week in any case', async (t) => {
  const { clock, start, sessions } = await open(t);
  const idle = await start();
  clock.advance(12 * hourMs - 1);
  assert.notEqual(await sessions.find(cookieOf(idle)), undefined);
  clock.advance(12 * hourMs);
  assert.equal(await sessions.find(cookieOf(idle)), undefined);
  const used = await start();
  for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
    clock.advance(6 * hourMs);
    assert.notEqual(await sessions.find(cookieOf(used)), undefined, `after ${hours + 6} hours`);
  }
  clock.advance(6 * hourMs);
  assert.equal(await sessions.find(cookieOf(used)), undefined);
});

test('sessions and tokens stay valid while the store accepts no writes', async (t) => {
  const { clock, start, store } = await open(t);
  const opened = await start();
  const secret = createSecretWith('psa_');
  const token = { digest: digestOf(secret), hint: hintOf(secret), name: 'ci', expiresAtMs: undefined };
  await store.tokens.create({ ...token, role: 'viewer', memberId: opened.member.id }, 'tester');
  const refuse = async (): Promise<never> => {
    throw new Error('the store takes no writes');
  };
  const { identify } = createAccess({
    store: {
      ...store,
      sessions: { ...store.sessions, seen: refuse },
      members: { ...store.members, seen: refuse },
      tokens: { ...store.tokens, used: refuse },
    },
    clock,
    url: () => undefined,
  });
  clock.advance(60_000);
  assert.equal((await identify(cookieOf(opened))).kind, 'member');
  assert.equal((await identify(new Headers({ authorization: `Bearer ${secret}` }))).kind, 'token');
});

test("each sign-in has its own secret and ends the browser's previous session", async (t) => {
  const { start, sessions } = await open(t);
  const [former, elsewhere] = [await start(), await start()];
  const next = await start(cookieOf(former));
  assert.notEqual(next.cookie, former.cookie);
  assert.notEqual(next.csrfToken, former.csrfToken);
  assert.equal(await sessions.find(cookieOf(former)), undefined);
  for (const one of [next, elsewhere]) assert.notEqual(await sessions.find(cookieOf(one)), undefined);
});

test('a session secret that an attacker planted in the browser is never used for a session', async (t) => {
  const { start, sessions } = await open(t);
  const planted = new Headers({ cookie: `postern_session=${'A'.repeat(43)}` });
  const opened = await start(planted);
  assert.equal(await sessions.find(planted), undefined);
  assert.doesNotMatch(opened.cookie, /A{43}/);
});

test('a request with two session cookies has no session', async (t) => {
  const { start, sessions } = await open(t);
  const [one, other] = [cookieOf(await start()).get('cookie'), cookieOf(await start()).get('cookie')];
  for (const cookie of [`${one}; ${other}`, `${other}; ${one}`, `${one}; ${one}`, 'postern_session=', '', 'x']) {
    assert.equal(await sessions.find(new Headers({ cookie })), undefined, cookie);
  }
  assert.notEqual(await sessions.find(new Headers({ cookie: `theme=dark; ${one}; a=b` })), undefined);
});
