import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { oidcClient, startIdentityProvider } from '../../../test/support/console/identity-provider.ts';
import type { OidcSettings } from '../../core/snapshot.ts';
import { Problem } from '../problem.ts';
import { createOidcFlow, type OidcPerson } from './oidc.ts';

const callback = 'https://console.example.com/api/session/oidc/callback';
const ada = { sub: 'user-1', email: 'ada@example.com', email_verified: true, name: 'Ada' };

async function setUp(t: TestContext, parts: Partial<OidcSettings> = {}) {
  const provider = await startIdentityProvider(ada);
  t.after(() => provider.close());
  const settings: OidcSettings = {
    issuer: provider.issuer,
    client_id: oidcClient.id,
    client_secret: oidcClient.secret,
    title: 'Example',
    scopes: ['openid', 'email'],
    role_claim: 'groups',
    roles: { viewer: ['readers'], editor: [], admin: [], owner: ['bosses'] },
    trust_email: false,
    ...parts,
  };
  const flow = createOidcFlow(settings, Date.now);

  /** To the provider and back, as a browser. */
  async function go(change: (url: URL) => void = () => undefined): Promise<OidcPerson> {
    const { url, memo } = await flow.begin(callback, '/models');
    assert.equal(memo.page, '/models');
    const left = await fetch(url, { redirect: 'manual' });
    const back = new URL(left.headers.get('location') ?? '');
    change(back);
    return flow.end(back, memo);
  }
  return { provider, flow, go };
}

const refused = (what: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Problem, String(error));
  assert.match(error.message, what);
  return true;
};

test('reads subject, email address and name of a person from the identity provider', async (t) => {
  const { go, provider } = await setUp(t);
  assert.deepEqual(await go(), {
    subject: `${provider.issuer} user-1`,
    email: 'ada@example.com',
    name: 'Ada',
    role: undefined,
    authenticatedAtMs: undefined,
  });
});

test('a person in several mapped groups gets the highest of their roles', async (t) => {
  const { go, provider } = await setUp(t);
  for (const [groups, role] of [
    [['readers', 'bosses', 'others'], 'owner'],
    [['readers'], 'viewer'],
    ['readers', 'viewer'],
    [['others'], undefined],
    [{ readers: true }, undefined],
  ] as const) {
    provider.claims = { ...ada, groups };
    assert.equal((await go()).role, role);
  }
});

test('role_claim names a claim inside objects by its path, and one whose name contains dots by that name', async (t) => {
  const { go, provider } = await setUp(t, { role_claim: 'realm_access.roles' });
  for (const [claims, role] of [
    [{ realm_access: { roles: ['bosses'] } }, 'owner'],
    [{ 'realm_access.roles': ['readers'], realm_access: { roles: ['bosses'] } }, 'viewer'],
    [{ realm_access: 'bosses' }, undefined],
    [{}, undefined],
  ] as const) {
    provider.claims = { ...ada, ...claims };
    assert.equal((await go()).role, role);
  }

  const other = await setUp(t, { role_claim: 'realm_access.roles' });
  other.provider.metadata = { userinfo_endpoint: `${other.provider.issuer}/userinfo` };
  other.provider.userinfo = { ...ada, realm_access: { roles: ['bosses'] } };
  assert.equal((await other.go()).role, 'owner');
  // A token with all claims is enough.
  other.provider.userinfo = { sub: 'user-2' };
  other.provider.claims = { ...ada, realm_access: { roles: ['readers'] } };
  assert.equal((await other.go()).role, 'viewer');
});

test('an email address that the identity provider has not verified is accepted only with trust_email', async (t) => {
  const { go, provider } = await setUp(t);
  for (const email_verified of [false, undefined, 'true']) {
    provider.claims = { ...ada, email_verified };
    await assert.rejects(go(), refused(/has not verified/));
  }
  provider.claims = { sub: 'user-1', email_verified: true };
  await assert.rejects(go(), refused(/did not send your e-mail address/));
  const trusting = await setUp(t, { trust_email: true });
  trusting.provider.claims = { ...ada, email_verified: undefined };
  assert.equal((await trusting.go()).email, 'ada@example.com');
});

test('refuses a wrong state, a code used before, and an ID token for another audience, time or issuer', async (t) => {
  const { go, provider } = await setUp(t);
  await assert.rejects(
    go((url) => url.searchParams.set('state', 'other')),
    refused(/did not confirm/),
  );
  await assert.rejects(
    go((url) => url.searchParams.set('code', 'other')),
    refused(/did not confirm/),
  );
  await assert.rejects(
    go((url) => {
      url.searchParams.delete('code');
      url.searchParams.set('error', 'access_denied');
    }),
    refused(/access_denied/),
  );
  for (const wrong of [{ aud: 'another' }, { exp: 1 }, { iss: 'https://other.example.com' }, { nonce: 'other' }]) {
    provider.claims = { ...ada, ...wrong };
    await assert.rejects(go(), refused(/did not confirm/));
  }
  provider.claims = ada;
  provider.spoil = (answer) => ({ ...answer, id_token: `${String(answer.id_token).slice(0, -8)}AAAAAAAA` });
  await assert.rejects(go(), Problem);
  provider.spoil = ({ id_token: _, ...answer }) => answer;
  await assert.rejects(go(), refused(/did not confirm/));
  provider.spoil = (answer) => answer;
  assert.equal((await go()).name, 'Ada');
});

test('sends the client secret in the form or as basic authentication, as the identity provider supports it', async (t) => {
  const { go } = await setUp(t);
  assert.equal((await go()).name, 'Ada');
  const other = await setUp(t);
  other.provider.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] };
  assert.equal((await other.go()).name, 'Ada');
});

test('asks the userinfo endpoint for the email address and groups that the ID token lacks', async (t) => {
  const { go, provider } = await setUp(t);
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` };
  provider.claims = { sub: 'user-1' };
  provider.userinfo = { ...ada, groups: ['bosses'] };
  const { email, name, role } = await go();
  assert.deepEqual([email, name, role], ['ada@example.com', 'Ada', 'owner']);

  // The address and whether it is verified come from one place.
  provider.claims = { sub: 'user-1', email: 'owner@example.com', groups: [] };
  assert.equal((await go()).email, 'ada@example.com');

  provider.userinfo = { ...ada, sub: 'user-2' };
  await assert.rejects(go(), refused(/did not confirm/));
  provider.claims = { ...ada, groups: ['readers'] };
  assert.equal((await go()).role, 'viewer');
});

test('asks no userinfo endpoint whether an address is verified where unverified ones are trusted', async (t) => {
  const { go, provider } = await setUp(t, { trust_email: true });
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` };
  provider.userinfo = { sub: 'user-2' };
  provider.claims = { sub: 'user-1', email: 'ada@example.com', groups: [] };
  assert.equal((await go()).email, 'ada@example.com');
});

test('an unreachable identity provider is reported as such, and tried again', async (t) => {
  const { flow, provider } = await setUp(t);
  await provider.close();
  await assert.rejects(flow.begin(callback, '/'), refused(/does not answer as expected/));
});
