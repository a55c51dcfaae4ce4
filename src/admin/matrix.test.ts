/** Permissions: every endpoint, called by each role, with a session and with a token, and by callers without access. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { openAdmin } from '../../test/support/console/admin.ts';
import { type Role, reaches, roles } from '../core/role.ts';
import type { StoredMember } from '../core/store/members.ts';
import { createSecretWith, digestOf, hintOf } from '../lib/secrets/key-secret.ts';
import { createAdminApi } from './api/api.ts';
import { roleFacts } from './api/openapi.ts';
import type { Method, Needed } from './endpoint.ts';
import { endpoints } from './endpoints.ts';

/** With `+ proof` it gives lasting power: refused for tokens of any role, and for sessions without a fresh proof. */
type Wanted = Needed | `${Exclude<Needed, 'anyone'>} + proof`;

/**
 * Written by hand, one line each, and compared with the endpoints: the lowest role; `anyone`, before signing in; `member`, with a session of any
 * role, but no token.
 */
const table: Readonly<Record<string, Wanted>> = {
  'GET /api/session': 'anyone',
  'POST /api/session': 'anyone',
  'DELETE /api/session': 'anyone',
  'GET /api/session/oidc': 'anyone',
  'GET /api/session/oidc/callback': 'anyone',
  'POST /api/session/passkey/options': 'anyone',
  'POST /api/session/passkey': 'anyone',
  'POST /api/setup': 'anyone',
  'POST /api/invitations/look': 'anyone',
  'POST /api/invitations/accept': 'anyone',
  'PATCH /api/me': 'member',
  'POST /api/me/password': 'member',
  'POST /api/me/proof': 'member',
  'POST /api/me/proof/passkey/options': 'member',
  'POST /api/me/proof/passkey': 'member',
  'GET /api/me/sessions': 'member',
  'DELETE /api/me/sessions/:id': 'member',
  'GET /api/me/passkeys': 'member',
  'POST /api/me/passkeys/options': 'member + proof',
  'POST /api/me/passkeys': 'member + proof',
  'PATCH /api/me/passkeys/:id': 'member',
  'DELETE /api/me/passkeys/:id': 'member + proof',
  'GET /api/tokens': 'member',
  'POST /api/tokens': 'member + proof',
  'DELETE /api/tokens/:id': 'member',
  'GET /api/members': 'viewer',
  'POST /api/members': 'owner + proof',
  'PATCH /api/members/:id': 'owner + proof',
  'DELETE /api/members/:id': 'owner + proof',
  'POST /api/members/:id/reset': 'owner + proof',
  'DELETE /api/invitations/:id': 'owner',
  'GET /api/configuration': 'viewer',
  'GET /api/series': 'viewer',
  'GET /api/states': 'viewer',
  'GET /api/now': 'viewer',
  'GET /api/alerts': 'viewer',
  'GET /api/alerts/rules': 'viewer',
  'POST /api/alerts/test': 'admin',
  'PUT /api/alerts/:id/silence': 'editor',
  'DELETE /api/alerts/:id/silence': 'editor',
  'GET /api/live': 'viewer',
  'GET /api/health': 'viewer',
  'GET /api/notices': 'viewer',
  'POST /api/notices/secret-key-backup': 'owner',
  'GET /api/first-steps': 'viewer',
  'GET /api/about': 'viewer',
  'GET /api/families': 'viewer',
  'GET /api/upstreams': 'viewer',
  'GET /api/upstreams/:id': 'viewer',
  'PUT /api/upstreams/:id': 'admin',
  'DELETE /api/upstreams/:id': 'admin',
  'POST /api/upstreams/test': 'admin',
  'POST /api/upstreams/:id/test': 'editor',
  'GET /api/upstreams/:id/models': 'editor',
  'GET /api/models': 'viewer',
  'GET /api/models/:id': 'viewer',
  'PUT /api/models/:id': 'editor',
  'PATCH /api/models/:id': 'editor',
  'DELETE /api/models/:id': 'editor',
  'POST /api/models/:id/forget': 'editor',
  'POST /api/models/:id/accept': 'editor',
  'POST /api/models/:id/test': 'editor',
  'GET /api/playground/models': 'viewer',
  'POST /api/playground/:route': 'editor',
  'GET /api/playground/tries/:requestId': 'viewer',
  'GET /api/keys': 'viewer',
  'POST /api/keys': 'admin',
  'GET /api/keys/:id': 'viewer',
  'PATCH /api/keys/:id': 'admin',
  'POST /api/keys/:id/rotate': 'admin',
  'POST /api/keys/:id/restore': 'admin',
  'POST /api/keys/:id/revoke': 'admin',
  'GET /api/keys/:id/usage': 'viewer',
  'GET /api/keys/:id/burn-down': 'viewer',
  'GET /api/projects': 'viewer',
  'GET /api/projects/:id': 'viewer',
  'PUT /api/projects/:id': 'admin',
  'DELETE /api/projects/:id': 'admin',
  'GET /api/projects/:id/usage': 'viewer',
  'GET /api/projects/:id/burn-down': 'viewer',
  'GET /api/ledger': 'viewer',
  'GET /api/ledger/export': 'viewer',
  'GET /api/ledger/tail': 'viewer',
  'GET /api/ledger/choices': 'viewer',
  'GET /api/ledger/:id': 'viewer',
  'GET /api/ledger/:id/capture': 'admin',
  'GET /api/usage': 'viewer',
  'GET /api/audit': 'admin',
  'GET /api/settings': 'viewer',
  'PUT /api/settings/:id': 'admin',
  'DELETE /api/settings/:id': 'admin',
  'GET /api/openapi.json': 'viewer',
};

type Headers = Readonly<Record<string, string>>;
/** `through`: authorised, whatever the result was. */
type Verdict = 'through' | 'sign_in_needed' | 'not_allowed' | 'proof_needed' | 'forged_request';

const refusals = ['sign_in_needed', 'not_allowed', 'proof_needed', 'forged_request'];
const staleMs = 5 * 60_000;

async function open(t: TestContext) {
  const { context, store } = await openAdmin(t, { signsIn: true });
  const api = createAdminApi(endpoints, context);
  const nowhere = { headers: new globalThis.Headers(), address: '::1' };

  async function addMember(role: Role): Promise<StoredMember> {
    const made = await store.members.create({ email: `${randomUUID()}@example.com`, name: role, role }, 'tester');
    assert.ok(made !== 'taken');
    return made;
  }

  async function sessionOf(member: StoredMember, provedAgoMs = 0) {
    const provedAtMs = Date.now() - provedAgoMs;
    const { cookie, csrfToken, session } = await context.access.sessions.open(member, 'password', nowhere, provedAtMs);
    const headers = { cookie: cookie.split(';', 1)[0] ?? '', 'x-postern-csrf': csrfToken };
    return { headers, id: session.id };
  }

  async function tokenOf(member: StoredMember, role: Role, expiresAtMs?: number) {
    const secret = createSecretWith('psa_');
    const facts = {
      digest: digestOf(secret),
      hint: hintOf(secret),
      memberId: member.id,
      name: 'ci',
      role,
      expiresAtMs,
    };
    const token = await store.tokens.create(facts, 'tester');
    return { headers: { authorization: `Bearer ${secret}` }, id: token?.id ?? '' };
  }

  async function send(method: Method, path: string, headers: Headers, body?: unknown): Promise<Response> {
    const isRead = method === 'GET' || method === 'DELETE';
    const request = new Request(`http://127.0.0.1:4001${path}`, {
      method,
      headers: { host: '127.0.0.1:4001', ...(isRead ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(isRead ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    return api.fetch(request, { address: '127.0.0.1' });
  }

  /** Calls concern missing objects, so that nothing changes. */
  async function judge(route: string, headers: Headers): Promise<Verdict> {
    const [method, path] = split(route);
    const response = await send(method, path.replaceAll(/:\w+/g, 'none'), headers);
    const isProblem = response.headers.get('content-type') === 'application/problem+json';
    const code = isProblem ? JSON.parse(await response.text()).code : undefined;
    await response.body?.cancel().catch(() => undefined);
    return refusals.includes(code) ? code : 'through';
  }

  return { store, addMember, sessionOf, tokenOf, send, judge };
}

function split(route: string): [Method, string] {
  const [method = '', path = ''] = route.split(' ');
  return [method as Method, path];
}

type Way = 'proved session' | 'stale session' | 'token';

function judgementOf(wanted: Wanted, role: Role | undefined, way: Way): Verdict {
  const [needs, proof] = wanted.split(' + ') as [Needed, 'proof' | undefined];
  if (needs === 'anyone') return 'through';
  if (role === undefined) return 'sign_in_needed';
  if (needs === 'member' ? way === 'token' : !reaches(role, needs)) return 'not_allowed';
  if (proof === undefined || way === 'proved session') return 'through';
  return way === 'token' ? 'not_allowed' : 'proof_needed';
}

test('the table of permissions lists exactly the endpoints that exist', () => {
  const served = endpoints.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual([...served].sort(), Object.keys(table).sort());
});

test('every endpoint admits exactly the roles in the table of permissions', async (t) => {
  const { addMember, sessionOf, tokenOf, judge } = await open(t);
  // A permanent owner, so that no other is the last one.
  const owner = await addMember('owner');
  for (const [route, wanted] of Object.entries(table)) {
    assert.equal(await judge(route, {}), judgementOf(wanted, undefined, 'proved session'), `nobody: ${route}`);
    for (const role of roles) {
      // New ones for each, as some of the endpoints end them.
      const member = await addMember(role);
      const ways: Readonly<Record<Way, Headers>> = {
        'proved session': (await sessionOf(member)).headers,
        'stale session': (await sessionOf(member, staleMs)).headers,
        token: (await tokenOf(owner, role)).headers,
      };
      for (const way of ['proved session', 'stale session', 'token'] as const) {
        assert.equal(await judge(route, ways[way]), judgementOf(wanted, role, way), `${way} of ${role}: ${route}`);
      }
    }
  }
});

test('exactly the endpoints marked in the table of permissions need re-authentication', () => {
  const marked = endpoints.filter(({ proof }) => proof === true).map(({ method, path }) => `${method} ${path}`);
  const listed = Object.entries(table).filter(([, wanted]) => wanted.endsWith(' + proof'));
  assert.deepEqual(marked.sort(), listed.map(([route]) => route).sort());
});

test('writes with a session need the CSRF token, and are refused when they come from another site or origin', async (t) => {
  const { addMember, sessionOf, judge } = await open(t);
  const { headers } = await sessionOf(await addMember('owner'));
  const forged: readonly Headers[] = [
    { cookie: headers.cookie },
    { ...headers, 'x-postern-csrf': '' },
    { ...headers, 'x-postern-csrf': `${headers['x-postern-csrf'].slice(0, -1)}~` },
    { ...headers, 'sec-fetch-site': 'cross-site' },
    { ...headers, 'sec-fetch-site': 'same-site' },
    { ...headers, origin: 'https://attacker.example' },
    { ...headers, origin: 'http://127.0.0.1:4002' },
    { ...headers, origin: 'null' },
  ];
  for (const route of Object.keys(table).filter((one) => !one.startsWith('GET '))) {
    for (const one of forged)
      assert.equal(await judge(route, one), 'forged_request', `${route} ${JSON.stringify(one)}`);
    // Signing a victim in as another person is a write too.
    for (const origin of ['https://attacker.example', 'null']) {
      assert.equal(await judge(route, { origin }), 'forged_request', `nobody: ${route}`);
    }
  }
  const fine = { ...headers, origin: 'http://127.0.0.1:4001', 'sec-fetch-site': 'same-origin' };
  assert.equal(await judge('PATCH /api/me', fine), 'through');
});

test('a member who loses access is refused from the next request on', async (t) => {
  const { store, addMember, sessionOf, tokenOf, judge } = await open(t);
  await addMember('owner');
  const ends: readonly ((member: StoredMember, token: string) => Promise<unknown>)[] = [
    ({ id }) => store.members.change(id, { disabled: true }, { actor: 'tester' }),
    ({ id }) => store.members.remove(id, 'tester'),
  ];
  for (const end of ends) {
    const member = await addMember('admin');
    const [session, token] = [await sessionOf(member), await tokenOf(member, 'admin')];
    for (const { headers } of [session, token]) assert.equal(await judge('GET /api/audit', headers), 'through');
    await end(member, token.id);
    for (const { headers } of [session, token]) assert.equal(await judge('GET /api/audit', headers), 'sign_in_needed');
  }

  const member = await addMember('admin');
  const [lives, revoked, over] = [
    await tokenOf(member, 'admin'),
    await tokenOf(member, 'admin'),
    await tokenOf(member, 'admin', Date.now() - 1),
  ];
  await store.tokens.revoke(revoked.id, 'tester');
  for (const { headers } of [revoked, over]) assert.equal(await judge('GET /api/members', headers), 'sign_in_needed');
  const { headers } = await sessionOf(member);
  await store.members.change(member.id, { role: 'viewer' }, { actor: 'tester' });
  // Signed in again with the new role; a token never exceeds its member's.
  assert.equal(await judge('GET /api/members', headers), 'sign_in_needed');
  assert.equal(await judge('GET /api/members', lives.headers), 'through');
  assert.equal(await judge('GET /api/audit', lives.headers), 'not_allowed');
});

test('an invalid bearer token is refused even beside a valid session, and other Authorization schemes are ignored', async (t) => {
  const { addMember, sessionOf, tokenOf, judge } = await open(t);
  const member = await addMember('owner');
  const { headers } = await sessionOf(member);
  const { authorization } = (await tokenOf(member, 'owner')).headers;
  const rows: readonly (readonly [string, Verdict])[] = [
    [authorization, 'through'],
    [authorization.replace('Bearer', 'bearer'), 'through'],
    [`${authorization.slice(0, -1)}~`, 'sign_in_needed'],
    ['Bearer x', 'sign_in_needed'],
    [`Bearer ${createSecretWith('psa_')}`, 'sign_in_needed'],
    [authorization.replace('psa_', 'pst_'), 'sign_in_needed'],
  ];
  for (const [value, verdict] of rows) {
    assert.equal(await judge('GET /api/members', { ...headers, authorization: value }), verdict, value.slice(0, 12));
  }
  // A proxy in front may require its own password.
  assert.equal(await judge('GET /api/members', { ...headers, authorization: 'Basic eDp5' }), 'through');
});

test('members see and revoke only their own API tokens, and owners see and revoke all', async (t) => {
  const { store, addMember, sessionOf, tokenOf, send } = await open(t);
  const [ada, bo, owner] = [await addMember('admin'), await addMember('viewer'), await addMember('owner')];
  const [mine, theirs] = [await tokenOf(ada, 'admin'), await tokenOf(bo, 'viewer')];
  const idsFor = async (member: StoredMember) => {
    const answer = await send('GET', '/api/tokens', (await sessionOf(member)).headers);
    const { items }: ReturnType<typeof JSON.parse> = await answer.json();
    return items.map(({ id }: { id: string }) => id).sort();
  };
  assert.deepEqual(await idsFor(ada), [mine.id]);
  assert.deepEqual(await idsFor(bo), [theirs.id]);
  assert.deepEqual(await idsFor(owner), [mine.id, theirs.id].sort());
  const end = async (member: StoredMember, id: string) =>
    (await send('DELETE', `/api/tokens/${id}`, (await sessionOf(member)).headers)).status;
  assert.equal(await end(ada, theirs.id), 404);
  assert.equal((await store.tokens.get(theirs.id))?.revokedAtMs, undefined);
  assert.equal(await end(bo, theirs.id), 204);
  assert.equal(await end(owner, mine.id), 204);
  assert.notEqual((await store.tokens.get(mine.id))?.revokedAtMs, undefined);
});

test('an API token cannot have a higher role than its creator', async (t) => {
  const { addMember, sessionOf, send } = await open(t);
  for (const maker of roles) {
    const { headers } = await sessionOf(await addMember(maker));
    for (const role of roles) {
      const answer = await send('POST', '/api/tokens', headers, { name: 'ci', role });
      assert.equal(answer.status, reaches(maker, role) ? 201 : 422, `${maker} makes ${role}`);
    }
  }
});

test('members, owners included, can end only their own sessions', async (t) => {
  const { addMember, sessionOf, send, judge } = await open(t);
  const [owner, other] = [await addMember('owner'), await addMember('viewer')];
  const [mine, theirs] = [await sessionOf(owner), await sessionOf(other)];
  assert.equal((await send('DELETE', `/api/me/sessions/${theirs.id}`, mine.headers)).status, 404);
  assert.equal(await judge('GET /api/members', theirs.headers), 'through');
  const second = await sessionOf(other);
  assert.equal((await send('DELETE', `/api/me/sessions/${theirs.id}`, second.headers)).status, 204);
  assert.equal(await judge('GET /api/members', theirs.headers), 'sign_in_needed');
});

test('an owner can change every member except themselves and the last owner', async (t) => {
  const { addMember, sessionOf, tokenOf, send } = await open(t);
  const owner = await addMember('owner');
  const other = await addMember('viewer');
  const { headers } = await sessionOf(owner);
  const statuses = async (id: string, as: Headers) => [
    (await send('PATCH', `/api/members/${id}`, as, { role: 'editor' })).status,
    (await send('PATCH', `/api/members/${id}`, as, { disabled: true })).status,
    (await send('DELETE', `/api/members/${id}`, as)).status,
  ];
  assert.deepEqual(await statuses(owner.id, headers), [403, 403, 403]);
  assert.deepEqual(await statuses(owner.id, (await tokenOf(owner, 'owner')).headers), [403, 403, 403]);
  assert.equal((await send('PATCH', `/api/members/${owner.id}`, headers, { name: 'Me' })).status, 200);
  assert.deepEqual(await statuses(other.id, headers), [200, 200, 204]);
  const second = await addMember('owner');
  assert.deepEqual(await statuses(owner.id, (await tokenOf(second, 'owner')).headers), [403, 403, 403]);
  assert.deepEqual(await statuses(owner.id, (await sessionOf(second, staleMs)).headers), [403, 403, 403]);
  assert.deepEqual(await statuses(owner.id, (await sessionOf(second)).headers), [200, 200, 204]);
});

test('the docs describe each role as the code does', async () => {
  const text = await readFile(new URL('../../docs/guides/access.md', import.meta.url), 'utf8');
  const documented = Array.from(text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm), ([, role, may]) => [role, may]);
  assert.deepEqual(documented, Object.entries(roleFacts));
});
