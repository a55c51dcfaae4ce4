import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AdminAnswer, openAdmin } from '../../../../test/support/console/admin.ts';
import { digestOf } from '../../../lib/secrets/key-secret.ts';

const password = 'lantern moss gate';
const console = 'https://postern.example';

async function open(t: TestContext) {
  const admin = await openAdmin(t, { signsIn: true, configuration: { console: { url: console } } });
  /** As a browser would: with the cookie of an answer, and the CSRF token. */
  const as = ({ headers, json }: AdminAnswer) => ({
    cookie: headers.getSetCookie()[0]?.split(';', 1)[0] ?? '',
    'x-postern-csrf': json.csrfToken,
  });
  async function setUp(): Promise<AdminAnswer> {
    const made = await admin.context.access.links.setUp(console, 'tester');
    const token = made?.link.split('=')[1];
    return admin.ask('POST', '/api/setup', { token, email: 'Ada@Example.com', name: 'Ada', password });
  }
  const signIn = (email: string, secret: string) => admin.ask('POST', '/api/session', { email, password: secret });
  return { ...admin, as, setUp, signIn };
}

const tokenIn = (link: string): string => {
  assert.match(link, /^https:\/\/postern\.example\/join#token=[\w-]{43}$/);
  return link.split('=')[1] ?? '';
};

const codeOf = ({ status, json }: AdminAnswer): [number, string] => [status, json?.code];

test('the set-up link creates and signs in the first owner, and works only once', async (t) => {
  const { ask, context, as, setUp } = await open(t);
  assert.equal((await ask('GET', '/api/session')).json.needsSetUp, true);
  const former = await context.access.links.setUp(console, 'tester');
  const made = await setUp();
  assert.deepEqual(
    [made.status, made.json.member.email, made.json.member.role, made.json.needsSetUp],
    [200, 'ada@example.com', 'owner', false],
  );
  const session = await ask('GET', '/api/session', undefined, as(made));
  assert.equal(session.json.csrfToken, made.json.csrfToken);
  const again = { token: former?.link.split('=')[1], email: 'eve@example.com', name: 'Eve', password };
  assert.deepEqual(codeOf(await ask('POST', '/api/setup', again)), [404, 'not_found']);
  assert.equal(await context.access.links.setUp(console, 'tester'), undefined);
  assert.equal((await ask('GET', '/api/session')).json.needsSetUp, false);
});

test('an invalid field of the set-up form is named, and the set-up link stays valid', async (t) => {
  const { ask, context } = await open(t);
  const token = (await context.access.links.setUp(console, 'tester'))?.link.split('=')[1];
  const fine = { token, email: 'ada@example.com', name: 'Ada', password };
  const rows: [object, string][] = [
    [{ password: 'short' }, 'password'],
    [{ password: 'password1234' }, 'password'],
    [{ email: 'ada' }, 'email'],
    [{ name: ' ' }, 'name'],
    [{ role: 'owner' }, 'role'],
  ];
  for (const [change, path] of rows) {
    const answer = await ask('POST', '/api/setup', { ...fine, ...change });
    assert.deepEqual([answer.status, answer.json.fields[0].path], [422, path]);
  }
  // A link for the set-up is no invitation.
  assert.equal((await ask('POST', '/api/invitations/accept', { token, name: 'Eve', password })).status, 404);
  assert.equal((await ask('POST', '/api/setup', fine)).status, 200);
});

test('an invitation shows its role, creates a member with it, and works once', async (t) => {
  const { ask, as, setUp } = await open(t);
  const owner = as(await setUp());
  const made = await ask('POST', '/api/members', { email: 'Bo@example.com', role: 'editor' }, owner);
  assert.equal(made.status, 201);
  const token = tokenIn(made.json.link);
  const listed = await ask('GET', '/api/members', undefined, owner);
  assert.deepEqual(
    [listed.json.items.length, listed.json.invitations.length, listed.json.invitations[0].email],
    [1, 1, 'bo@example.com'],
  );
  assert.doesNotMatch(JSON.stringify(listed.json), new RegExp(token));
  const { status, json } = await ask('POST', '/api/invitations/look', { token });
  assert.deepEqual(
    [status, { ...json, expiresAt: undefined }],
    [200, { kind: 'invitation', email: 'bo@example.com', name: null, role: 'editor', expiresAt: undefined }],
  );
  const nameless = await ask('POST', '/api/invitations/accept', { token, password });
  assert.deepEqual([nameless.status, nameless.json.fields[0].path], [422, 'name']);
  const [joined, late] = await Promise.all(
    ['Bo', 'Eve'].map((name) => ask('POST', '/api/invitations/accept', { token, name, password })),
  );
  assert.deepEqual([joined?.status, late?.status].sort(), [200, 404]);
  assert.equal((await ask('POST', '/api/invitations/look', { token })).status, 404);
  const taken = await ask('POST', '/api/members', { email: 'bo@example.com', role: 'owner' }, owner);
  assert.deepEqual([...codeOf(taken), taken.json.fields[0].path], [409, 'already_there', 'email']);
});

test('a withdrawn or unknown invitation is refused', async (t) => {
  const { ask, as, setUp } = await open(t);
  const owner = as(await setUp());
  const made = await ask('POST', '/api/members', { email: 'bo@example.com', role: 'editor' }, owner);
  const [{ id }] = (await ask('GET', '/api/members', undefined, owner)).json.invitations;
  assert.equal((await ask('DELETE', `/api/invitations/${id}`, undefined, owner)).status, 204);
  assert.equal((await ask('DELETE', `/api/invitations/${id}`, undefined, owner)).status, 404);
  for (const token of [tokenIn(made.json.link), 'x', "' or 1=1 --"]) {
    assert.equal((await ask('POST', '/api/invitations/look', { token })).status, 404);
    assert.equal((await ask('POST', '/api/invitations/accept', { token, name: 'Bo', password })).status, 404);
  }
});

test("a password reset link ends the member's sessions and former password", async (t) => {
  const { ask, as, setUp, signIn, store } = await open(t);
  const first = await setUp();
  const owner = as(first);
  const { id } = first.json.member;
  const made = await ask('POST', `/api/members/${id}/reset`, undefined, owner);
  const token = tokenIn(made.json.link);
  const look = (await ask('POST', '/api/invitations/look', { token })).json;
  assert.deepEqual([look.kind, look.email, look.name], ['reset', 'ada@example.com', 'Ada']);
  const next = 'another moss gate';
  assert.equal((await ask('POST', '/api/invitations/accept', { token, password: next })).status, 200);
  assert.equal((await ask('GET', '/api/members', undefined, owner)).status, 401);
  assert.deepEqual(
    [(await signIn('ada@example.com', password)).status, (await signIn('ada@example.com', next)).status],
    [401, 200],
  );
  const text = JSON.stringify(await store.audit.page({ limit: 100 }));
  for (const secret of [token, password, next, 'scrypt']) assert.equal(text.includes(secret), false, secret);
});

test('a disabled member cannot sign in, not even with a password reset link', async (t) => {
  const { ask, as, setUp, store, context } = await open(t);
  await setUp();
  const bo = await store.members.create({ email: 'bo@example.com', name: 'Bo', role: 'viewer' }, 'tester');
  assert.ok(bo !== 'taken');
  const made = await context.access.links.reset(console, { memberId: bo.id }, 'tester');
  await store.members.change(bo.id, { disabled: true }, { actor: 'tester' });
  const answer = await ask('POST', '/api/invitations/accept', { token: tokenIn(made?.link ?? ''), password });
  assert.deepEqual(codeOf(answer), [401, 'sign_in_failed']);
  assert.equal(as({ ...answer, json: {} }).cookie, '');
});

test('accepts writes from the origin of console.url despite another Host header, and refuses other origins', async (t) => {
  const { ask, as, setUp } = await open(t);
  const made = await setUp();
  assert.match(made.headers.getSetCookie()[0] ?? '', /^__Host-postern=.*; Secure$/);
  const rename = (origin: string) => ask('PATCH', '/api/me', { name: 'A' }, { ...as(made), origin });
  assert.deepEqual([(await rename(console)).status, (await rename('https://other.example')).status], [200, 403]);
});

test('refuses invisible and bidirectional characters in names of members and passkeys', async (t) => {
  const { ask, as, setUp } = await open(t);
  const session = as(await setUp());
  for (const path of ['/api/me', '/api/me/passkeys/none']) {
    for (const name of ['\u3164', '\u00ad', '\u200e', ' ', 'a\u202eb']) {
      assert.equal((await ask('PATCH', path, { name }, session)).status, 422, `${path}: ${JSON.stringify(name)}`);
    }
  }
  assert.equal((await ask('PATCH', '/api/me/passkeys/none', { name: 'Laptop \u200eא' }, session)).status, 404);
});

test("an invitation ends when its owner loses the role, and a reset link when the member's password changes", async (t) => {
  const { ask, as, setUp, store, context } = await open(t);
  const ada = as(await setUp());
  const invited = await ask('POST', '/api/members', { email: 'eve@example.com', role: 'owner' }, ada);
  const accept = (link: string, name?: string) =>
    ask('POST', '/api/invitations/accept', { token: tokenIn(link), name, password });
  const asEve = as(await accept(invited.json.link, 'Eve'));
  const bo = await store.members.create({ email: 'bo@example.com', name: 'Bo', role: 'owner' }, 'tester');
  const eve = await store.members.findByEmail('eve@example.com');
  assert.ok(bo !== 'taken' && eve !== undefined);

  const links = [
    await ask('POST', '/api/members', { email: 'eve-again@example.com', role: 'owner' }, asEve),
    await ask('POST', `/api/members/${bo.id}/reset`, undefined, asEve),
  ];
  const kept = await ask('POST', '/api/members', { email: 'cy@example.com', role: 'viewer' }, ada);
  assert.equal((await ask('PATCH', `/api/members/${eve.id}`, { role: 'viewer' }, ada)).status, 200);
  for (const { json } of links) assert.deepEqual(codeOf(await accept(json.link, 'Eve')), [404, 'not_found']);
  assert.equal((await store.audit.page({ action: 'invitation.withdraw', limit: 9 })).length, 2);
  assert.equal((await accept(kept.json.link, 'Cy')).status, 200);

  const reset = await context.access.links.reset(console, { memberId: bo.id }, 'tester');
  await store.members.change(bo.id, { passwordHash: 'another' }, { actor: 'tester' });
  assert.deepEqual(codeOf(await accept(reset?.link ?? '')), [404, 'not_found']);
});

test("an owner's API token cannot reset, invite or delete members, change roles, or create owner tokens", async (t) => {
  const { ask, as, setUp, store } = await open(t);
  const first = await setUp();
  const made = await ask('POST', '/api/tokens', { name: 'ci', role: 'owner' }, as(first));
  const token = { authorization: `Bearer ${made.json.secret}` };
  const bo = await store.members.create({ email: 'bo@example.com', name: 'Bo', role: 'viewer' }, 'tester');
  assert.ok(bo !== 'taken');
  const tries = [
    await ask('POST', `/api/members/${first.json.member.id}/reset`, undefined, token),
    await ask('POST', '/api/members', { email: 'eve@example.com', role: 'owner' }, token),
    await ask('PATCH', `/api/members/${bo.id}`, { role: 'owner' }, token),
    await ask('DELETE', `/api/members/${bo.id}`, undefined, token),
    await ask('POST', '/api/tokens', { name: 'again', role: 'owner' }, token),
  ];
  for (const answer of tries) assert.deepEqual(codeOf(answer), [403, 'not_allowed']);
  assert.match(tries[0]?.json.detail, /postern members/);
  assert.deepEqual(await store.invitations.list(), []);
  assert.equal((await store.members.get(bo.id))?.role, 'viewer');
  assert.equal((await store.tokens.list()).length, 1);
});

test("a password reset by an owner ends the member's tokens and passkeys, except those kept explicitly", async (t) => {
  const { ask, as, setUp, store } = await open(t);
  const owner = as(await setUp());
  const rows: readonly (readonly [readonly string[] | undefined, boolean, boolean])[] = [
    [undefined, false, false],
    [[], false, false],
    [['tokens'], true, false],
    [['passkeys'], false, true],
    [['tokens', 'passkeys'], true, true],
  ];
  for (const [index, [keep, keepsToken, keepsPasskey]] of rows.entries()) {
    const bo = await store.members.create({ email: `bo${index}@example.com`, name: 'Bo', role: 'owner' }, 'tester');
    assert.ok(bo !== 'taken');
    const add = async (digest: string) => {
      await store.tokens.create({ digest, hint: 'psa_', memberId: bo.id, name: 'ci', role: 'viewer' }, 'tester');
      const key = {
        id: digest,
        memberId: bo.id,
        publicKey: new Uint8Array([1]),
        counter: 0,
        transports: [],
        name: 'key',
      };
      await store.passkeys.add(key, 'tester');
    };
    const alive = async (digest: string) => [
      (await store.tokens.find(digest))?.token.revokedAtMs === undefined,
      (await store.passkeys.find(digest)) !== undefined,
    ];
    await add(digestOf(`early${index}`));
    const made = await ask('POST', `/api/members/${bo.id}/reset`, keep && { keep }, owner);
    assert.equal(made.status, 201);
    assert.deepEqual(await alive(digestOf(`early${index}`)), [keepsToken, keepsPasskey], JSON.stringify(keep));
    // Someone with access adds credentials before the link is used.
    await add(digestOf(`late${index}`));
    const token = tokenIn(made.json.link);
    assert.equal((await ask('POST', '/api/invitations/accept', { token, password })).status, 200);
    assert.deepEqual(await alive(digestOf(`late${index}`)), [keepsToken, keepsPasskey], JSON.stringify(keep));
    assert.equal((await store.members.get(bo.id))?.passkeys, keepsPasskey ? 2 : 0);
  }
  const wrong = await ask('POST', '/api/members/none/reset', { keep: ['role'] }, owner);
  assert.equal(wrong.status, 422);
  const entries = await store.audit.page({ limit: 200 });
  const count = (action: string) => entries.filter((entry) => entry.action === action).length;
  assert.deepEqual([count('member.reset'), count('token.revoke'), count('passkey.remove')], [5, 6, 6]);
  const resets = entries.filter((entry) => entry.action === 'member.reset').map(({ after }) => JSON.stringify(after));
  assert.equal(resets.filter((after) => after.includes('"kept":["tokens","passkeys"]')).length, 1);
});
