import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { oidcClient, startIdentityProvider } from '../../../../test/support/console/identity-provider.ts';

const ada = { sub: 'user-1', email: 'Ada@Example.com', email_verified: true, name: 'Ada' };

async function setUp(t: TestContext, oidc: Readonly<Record<string, unknown>> = {}) {
  const provider = await startIdentityProvider(ada);
  t.after(() => provider.close());
  const admin = await openAdmin(t, {
    role: null,
    configuration: {
      console: {
        oidc: { issuer: provider.issuer, client_id: oidcClient.id, client_secret: oidcClient.secret, ...oidc },
      },
    },
  });

  /** Follows redirects as a browser; returns the final URL and cookies. */
  async function signIn(page = '/models'): Promise<{ location: string; cookies: readonly string[] }> {
    const begun = await admin.ask('GET', `/api/session/oidc?page=${encodeURIComponent(page)}`);
    const [memo = ''] = begun.headers.getSetCookie();
    const left = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
    const back = new URL(left.headers.get('location') ?? '');
    const cookie = memo.split(';', 1)[0] ?? '';
    const ended = await admin.ask('GET', `${back.pathname}${back.search}`, undefined, { cookie });
    if (ended.status !== 303) console.log(ended.status, JSON.stringify(ended.json));
    return { location: decodeURIComponent(ended.headers.get('location') ?? ''), cookies: ended.headers.getSetCookie() };
  }
  const owner = { email: 'owner@example.com', name: 'Owner', role: 'owner' } as const;
  return { ...admin, provider, signIn, owner };
}

test('a first OIDC sign-in links the member by email address, and returns to the requested page', async (t) => {
  const { signIn, store, ask } = await setUp(t);
  await store.members.create({ email: 'ada@example.com', name: 'Ada L.', role: 'owner' }, 'test');
  const { location, cookies } = await signIn('/models?q=a');
  assert.equal(location, '/models?q=a');
  const session = cookies.find((cookie) => cookie.startsWith('postern_session=')) ?? assert.fail('no session');
  assert.match(session, /HttpOnly; SameSite=Strict/);
  assert.match((await store.members.findByEmail('ada@example.com'))?.oidcSubject ?? '', / user-1$/);
  const [entry] = await store.audit.page({ limit: 1 });
  assert.deepEqual([entry?.action, entry?.subject], ['console.sign_in', 'ada@example.com']);
  const { json } = await ask('GET', '/api/session');
  assert.deepEqual(json.signIn.oidc, { title: 'single sign-on', makesFirstOwner: false });
});

test('OIDC admits only people with an invitation, a mapped group or the default role', async (t) => {
  const { signIn, store, owner } = await setUp(t);
  await store.members.create(owner, 'test');
  const refused = await signIn();
  assert.match(refused.location, /^\/#problem=.*nobody has invited you yet/);
  assert.deepEqual(refused.cookies, []);
  const [entry] = await store.audit.page({ limit: 1 });
  assert.deepEqual([entry?.action, entry?.subject], ['console.sign_in_failed', '(no member)']);
  assert.match(JSON.stringify(entry?.after), /"method":"oidc"/);
  const invitation = {
    digest: 'd'.repeat(64),
    email: 'ada@example.com',
    role: 'editor',
    expiresAtMs: Date.now() + 60_000,
  } as const;
  await store.invitations.invite(invitation, 'test');
  assert.equal((await signIn()).location, '/models');
  assert.equal((await store.members.findByEmail('ada@example.com'))?.role, 'editor');
  assert.deepEqual(await store.invitations.list(), []);

  const open = await setUp(t, { default_role: 'viewer' });
  await open.store.members.create(owner, 'test');
  assert.equal((await open.signIn()).location, '/models');
  assert.equal((await open.store.members.findByEmail('ada@example.com'))?.role, 'viewer');
});

test('without an owner, OIDC is offered if a group maps to owner, and the first to sign in becomes the owner', async (t) => {
  const { signIn, provider, ask } = await setUp(t, { title: 'Okta', roles: { owner: ['bosses'] } });
  const before = (await ask('GET', '/api/session')).json;
  assert.deepEqual([before.needsSetUp, before.signIn.oidc], [true, { title: 'Okta', makesFirstOwner: true }]);
  provider.claims = { ...ada, groups: ['bosses'] };
  assert.equal((await signIn()).location, '/models');
  assert.equal((await ask('GET', '/api/session')).json.needsSetUp, false);
});

test('groups of the identity provider set the role at each sign-in, but never demote the last owner', async (t) => {
  const { signIn, store, provider } = await setUp(t, { roles: { owner: ['bosses'], viewer: ['readers'] } });
  provider.claims = { ...ada, groups: ['readers'] };
  assert.match((await signIn()).location, /there is no owner yet/);
  const roleAfter = async (groups: readonly string[]) => {
    provider.claims = { ...ada, groups };
    assert.equal((await signIn()).location, '/models');
    return (await store.members.findByEmail('ada@example.com'))?.role;
  };
  assert.equal(await roleAfter(['bosses']), 'owner');
  assert.equal(await roleAfter(['readers']), 'owner');
  await store.members.create({ email: 'other@example.com', name: 'Other', role: 'owner', passwordHash: 'x' }, 'test');
  assert.equal(await roleAfter(['readers']), 'viewer');
});

test('refuses a disabled member, another subject with the same email address, and an unexpected callback', async (t) => {
  const { signIn, store, ask, provider, owner } = await setUp(t);
  await store.members.create({ ...owner, passwordHash: 'x' }, 'test');
  const member = await store.members.create({ email: 'ada@example.com', name: 'Ada', role: 'viewer' }, 'test');
  assert.ok(member !== 'taken');
  assert.equal((await signIn()).location, '/models');
  provider.claims = { ...ada, sub: 'user-2' };
  assert.match((await signIn()).location, /another account at the identity provider/);
  provider.claims = ada;
  await store.members.change(member.id, { disabled: true }, { actor: 'test' });
  assert.match((await signIn()).location, /was disabled/);
  const nowhere = await ask('GET', '/api/session/oidc/callback?code=a&state=b');
  assert.equal(nowhere.status, 303);
  assert.deepEqual(nowhere.headers.getSetCookie(), []);
});

test('a sign-in through the identity provider never redirects to another site', async (t) => {
  const { signIn, store, owner } = await setUp(t, { default_role: 'viewer' });
  await store.members.create(owner, 'test');
  for (const page of [
    'https://attacker.example/',
    '//attacker.example',
    '/\\attacker.example',
    'javascript:alert(1)',
    '/\t/attacker.example',
  ]) {
    assert.equal((await signIn(page)).location, '/', page);
  }
  // Removing dots from a path must not leave two slashes at its beginning.
  for (const page of ['/.//attacker.example', '/x/..//attacker.example', '/%2e///attacker.example']) {
    assert.equal((await signIn(page)).location, '/attacker.example', page);
  }
});

test('an OIDC sign-in without a configured identity provider returns to a page that says so', async (t) => {
  const { ask } = await openAdmin(t, { role: null });
  const { headers } = await ask('GET', '/api/session/oidc');
  assert.match(decodeURIComponent(headers.get('location') ?? ''), /^\/#problem=No identity provider is configured/);
});

test('the OIDC cookie cannot return the browser to another site, and is protected over https', async (t) => {
  const { ask, store, owner } = await setUp(t, { default_role: 'viewer' });
  await store.members.create(owner, 'test');
  const begun = await ask('GET', '/api/session/oidc?page=/');
  const [name = '', value = ''] = (begun.headers.getSetCookie()[0] ?? '').split(';', 1)[0]?.split('=') ?? [];
  const kept = JSON.parse(Buffer.from(value, 'base64url').toString('utf8'));
  const forged = Buffer.from(JSON.stringify({ ...kept, page: 'https://attacker.example/' })).toString('base64url');
  const left = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
  const { pathname, search } = new URL(left.headers.get('location') ?? '');
  const ended = await ask('GET', `${pathname}${search}`, undefined, { cookie: `${name}=${forged}` });
  assert.deepEqual([ended.status, ended.headers.get('location')], [303, '/']);

  const provider = await startIdentityProvider(ada);
  t.after(() => provider.close());
  const oidc = { issuer: provider.issuer, client_id: oidcClient.id, client_secret: oidcClient.secret };
  const secure = await openAdmin(t, {
    role: null,
    configuration: { console: { url: 'https://console.example.com', oidc } },
  });
  const { headers } = await secure.ask('GET', '/api/session/oidc');
  assert.match(headers.getSetCookie()[0] ?? '', /^__Host-postern_oidc=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
});
