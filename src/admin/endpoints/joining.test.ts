import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AdminAnswer, openAdmin } from '../../../test/support/admin.ts';

const password = 'lantern moss gate';
const console = 'https://postern.example';

async function open(t: TestContext) {
  const admin = await openAdmin(t, { signsIn: true, configuration: { console: { url: console } } });
  /** As a browser would: with the cookie of an answer, and what it says to send beside it. */
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

test('the set-up link makes the first owner, who is then signed in, and does so once', async (t) => {
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

test('what is wrong with a set-up is told by its field, and the link goes on working', async (t) => {
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

test('an invitation says what it is good for, makes a member with its role, and works once', async (t) => {
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

test('an invitation that is withdrawn or unknown is over', async (t) => {
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

test('a link for another password ends the sessions and the former password', async (t) => {
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

test('a disabled member stays out, also with a link for another password', async (t) => {
  const { ask, as, setUp, store, context } = await open(t);
  await setUp();
  const bo = await store.members.create({ email: 'bo@example.com', name: 'Bo', role: 'viewer' }, 'tester');
  assert.ok(bo !== 'taken');
  const made = await context.access.links.reset(console, bo.id, 'tester');
  await store.members.change(bo.id, { disabled: true }, { actor: 'tester' });
  const answer = await ask('POST', '/api/invitations/accept', { token: tokenIn(made?.link ?? ''), password });
  assert.deepEqual(codeOf(answer), [401, 'sign_in_failed']);
  assert.equal(as({ ...answer, json: {} }).cookie, '');
});

test('a proxy may ask by another name, as long as the page is that of console.url', async (t) => {
  const { ask, as, setUp } = await open(t);
  const made = await setUp();
  assert.match(made.headers.getSetCookie()[0] ?? '', /^__Host-postern=.*; Secure$/);
  const rename = (origin: string) => ask('PATCH', '/api/me', { name: 'A' }, { ...as(made), origin });
  assert.deepEqual([(await rename(console)).status, (await rename('https://other.example')).status], [200, 403]);
});

test('what an owner handed out ends with the role, and a link for another password with the next password', async (t) => {
  const { ask, as, setUp, store, context } = await open(t);
  const ada = as(await setUp());
  const invited = await ask('POST', '/api/members', { email: 'eve@example.com', role: 'owner' }, ada);
  const accept = (link: string, name?: string) =>
    ask('POST', '/api/invitations/accept', { token: tokenIn(link), name, password });
  const asEve = as(await accept(invited.json.link, 'Eve'));
  const bo = await store.members.create({ email: 'bo@example.com', name: 'Bo', role: 'owner' }, 'tester');
  const eve = await store.members.findByEmail('eve@example.com');
  assert.ok(bo !== 'taken' && eve !== undefined);

  const token = await ask('POST', '/api/tokens', { name: 'ci', role: 'owner' }, asEve);
  const links = [
    await ask('POST', '/api/members', { email: 'eve-again@example.com', role: 'owner' }, asEve),
    await ask('POST', `/api/members/${bo.id}/reset`, undefined, asEve),
    await ask(
      'POST',
      '/api/members',
      { email: 'third@example.com', role: 'owner' },
      { authorization: `Bearer ${token.json.secret}` },
    ),
  ];
  const [created] = await store.audit.page({ action: 'member.invite', limit: 1 });
  assert.equal(created?.actor, 'token: ci of eve@example.com');
  const kept = await ask('POST', '/api/members', { email: 'cy@example.com', role: 'viewer' }, ada);
  assert.equal((await ask('PATCH', `/api/members/${eve.id}`, { role: 'viewer' }, ada)).status, 200);
  for (const { json } of links) assert.deepEqual(codeOf(await accept(json.link, 'Eve')), [404, 'not_found']);
  assert.equal((await store.audit.page({ action: 'invitation.withdraw', limit: 9 })).length, 3);
  assert.equal((await accept(kept.json.link, 'Cy')).status, 200);

  const reset = await context.access.links.reset(console, bo.id, 'tester');
  await store.members.change(bo.id, { passwordHash: 'another' }, { actor: 'tester' });
  assert.deepEqual(codeOf(await accept(reset?.link ?? '')), [404, 'not_found']);
});
