import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AdminAnswer, openAdmin } from '../../../../test/support/console/admin.ts';

const password = 'lantern moss gate';
const email = 'ada@example.com';

async function open(t: TestContext) {
  const admin = await openAdmin(t, { signsIn: true });
  const passwordHash = await admin.context.access.passwords.hash(password);
  const member = await admin.store.members.create({ email, name: 'Ada', role: 'owner', passwordHash }, 'tester');
  assert.ok(member !== 'taken');
  const signIn = (given: string = password, as: string = email, headers = {}) =>
    admin.ask('POST', '/api/session', { email: as, password: given }, headers);
  const actions = async () =>
    (await admin.store.audit.page({ limit: 100 })).map(
      ({ actor, action, subject }) => `${actor}: ${action} ${subject}`,
    );
  return { ...admin, member, signIn, actions };
}

function browserOf({ headers, json }: AdminAnswer) {
  return { cookie: headers.getSetCookie()[0]?.split(';', 1)[0] ?? '', 'x-postern-csrf': String(json?.csrfToken) };
}

test('a sign-in opens a session for the member until sign-out', async (t) => {
  const { ask, signIn, actions } = await open(t);
  const answer = await signIn(password, ' ADA@example.com ');
  const browser = browserOf(answer);
  assert.equal(answer.json.member.email, email);
  assert.equal((await ask('GET', '/api/session', undefined, browser)).json.member.name, 'Ada');
  const out = await ask('DELETE', '/api/session', undefined, browser);
  assert.equal(out.status, 204);
  assert.match(out.headers.getSetCookie()[0] ?? '', /^postern_session=; Max-Age=0/);
  // The former cookie is invalid now.
  assert.equal((await ask('GET', '/api/session', undefined, browser)).json.member, null);
  assert.equal((await ask('GET', '/api/members', undefined, browser)).status, 401);
  assert.equal((await ask('DELETE', '/api/session', undefined, browser)).status, 204);
  const entries = (await actions()).filter((line) => line.includes('console.'));
  assert.deepEqual(entries.sort(), [
    `console: ${email}: console.sign_in ${email}`,
    `console: ${email}: console.sign_out ${email}`,
  ]);
});

test('an unknown address and a wrong password get identical responses', async (t) => {
  const { signIn, store, member, actions } = await open(t);
  const [unknown, wrong] = [await signIn(password, 'eve@example.com'), await signIn('wrong')];
  assert.deepEqual([unknown.status, unknown.json], [wrong.status, wrong.json]);
  assert.equal(wrong.json.code, 'sign_in_failed');
  assert.deepEqual(wrong.headers.getSetCookie(), []);
  await store.members.create({ email: 'o@example.com', name: 'O', role: 'owner' }, 'tester');
  await store.members.change(member.id, { disabled: true }, { actor: 'tester' });
  assert.deepEqual((await signIn()).json, wrong.json);
  // Without a password none is valid.
  assert.deepEqual((await signIn('', 'o@example.com')).json, wrong.json);
  const failures = (await actions()).filter((line) => line.includes('sign_in_failed'));
  assert.equal(failures.length, 4);
  // The typed address is only logged where it is a member's.
  assert.doesNotMatch(failures.join('\n'), /eve@/);
});

test('an unknown passkey is refused and recorded in the audit log', async (t) => {
  const { ask, store } = await open(t);
  const answer = await ask('POST', '/api/session/passkey', {
    id: 'AAAA',
    response: { clientDataJSON: '', userHandle: '' },
  });
  assert.deepEqual([answer.status, answer.json.code], [401, 'sign_in_failed']);
  const [entry] = await store.audit.page({ limit: 1 });
  assert.deepEqual([entry?.action, entry?.subject], ['console.sign_in_failed', '(no member)']);
  assert.match(JSON.stringify(entry?.after), /"method":"passkey"/);
});

test('after five failed sign-ins, of a member or an unknown address, the next gets 429 with Retry-After', async (t) => {
  const { signIn } = await open(t);
  for (const name of [email, 'eve@example.com']) {
    for (let turn = 0; turn < 5; turn += 1) assert.equal((await signIn('wrong', name)).status, 401);
    const answer = await signIn(password, name);
    assert.deepEqual(
      [answer.status, answer.json.code, answer.headers.get('retry-after')],
      [429, 'too_many_attempts', '1'],
    );
  }
});

test('a sign-in request must be JSON', async (t) => {
  const { signIn } = await open(t);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
    assert.equal((await signIn(password, email, { 'content-type': type })).status, 415, type);
  }
});

test('a sign-in ends the session that the browser had before', async (t) => {
  const { ask, signIn } = await open(t);
  const former = browserOf(await signIn());
  const next = browserOf(await signIn(password, email, former));
  assert.notEqual(next.cookie, former.cookie);
  assert.equal((await ask('GET', '/api/members', undefined, former)).status, 401);
  assert.equal((await ask('GET', '/api/members', undefined, next)).status, 200);
});

test("a password change needs the current password, renews the session and ends the member's other sessions", async (t) => {
  const { ask, signIn, actions } = await open(t);
  const [here, elsewhere] = [browserOf(await signIn()), browserOf(await signIn())];
  const change = (body: object, as = here) => ask('POST', '/api/me/password', body, as);
  const next = 'another moss gate';
  for (const current of ['wrong', undefined]) {
    const wrong = await change({ current, next });
    assert.deepEqual([wrong.status, wrong.json.fields[0].path], [422, 'current']);
  }
  const weak = await change({ current: password, next: 'short' });
  assert.deepEqual([weak.status, weak.json.fields[0].path], [422, 'next']);
  const changed = await change({ current: password, next });
  assert.equal(changed.status, 200);
  const renewed = browserOf(changed);
  assert.notEqual(renewed.cookie, here.cookie);
  for (const gone of [here, elsewhere]) assert.equal((await ask('GET', '/api/members', undefined, gone)).status, 401);
  assert.equal((await ask('GET', '/api/members', undefined, renewed)).status, 200);
  assert.deepEqual([(await signIn()).status, (await signIn(next)).status], [401, 200]);
  assert.equal((await actions()).filter((line) => line.includes('member.password')).length, 1);
});

test('a stolen session cannot be used to guess the password', async (t) => {
  const { ask, signIn } = await open(t);
  const here = browserOf(await signIn());
  const statuses = [];
  for (let turn = 0; turn < 7; turn += 1) {
    statuses.push((await ask('POST', '/api/me/password', { current: 'x', next: 'another moss gate' }, here)).status);
  }
  assert.deepEqual(statuses, [422, 422, 422, 422, 422, 429, 429]);
});

test('members see their sessions and change their name', async (t) => {
  const { ask, signIn } = await open(t);
  const browser = browserOf(await signIn(password, email, { 'user-agent': 'Firefox' }));
  await signIn();
  const { items } = (await ask('GET', '/api/me/sessions', undefined, browser)).json;
  assert.deepEqual(
    items.map((one: Record<string, unknown>) => [one.current, one.userAgent, one.method, one.address]).sort(),
    [
      [false, '', 'password', '127.0.0.1'],
      [true, 'Firefox', 'password', '127.0.0.1'],
    ],
  );
  assert.equal((await ask('PATCH', '/api/me', { name: ' Ada L. ' }, browser)).json.name, 'Ada L.');
  assert.equal((await ask('PATCH', '/api/me', { role: 'owner' }, browser)).status, 422);
  // Such a name would be read as another one.
  assert.equal((await ask('PATCH', '/api/me', { name: 'Ada \u202e.L' }, browser)).status, 422);
  assert.equal((await ask('GET', '/api/session', undefined, browser)).json.member.name, 'Ada L.');
});

test('an API token works at once, is shown once, and ends when revoked', async (t) => {
  const { ask, signIn, store } = await open(t);
  const browser = browserOf(await signIn());
  const soon = new Date(Date.now() + 60_000).toISOString();
  const made = await ask('POST', '/api/tokens', { name: 'ci', role: 'editor', expiresAt: soon }, browser);
  const { secret, token } = made.json;
  assert.match(secret, /^psa_[0-9A-Za-z]{49}$/);
  assert.deepEqual(
    [token.role, token.expiresAt, token.memberName, token.hint],
    ['editor', soon, 'Ada', `${secret.slice(0, 8)}…`],
  );
  const program = { authorization: `Bearer ${secret}` };
  assert.equal((await ask('GET', '/api/members', undefined, program)).status, 200);
  assert.equal((await ask('GET', '/api/audit', undefined, program)).status, 403);
  assert.equal((await ask('POST', '/api/tokens', { name: 'more', role: 'viewer' }, program)).status, 403);
  const listed = await ask('GET', '/api/tokens', undefined, browser);
  assert.notEqual(listed.json.items[0].lastUsedAt, null);
  assert.equal(JSON.stringify([listed.json, await store.audit.page({ limit: 100 })]).includes(secret), false);
  const past = await ask(
    'POST',
    '/api/tokens',
    { name: 'x', role: 'viewer', expiresAt: '2020-01-01T00:00:00Z' },
    browser,
  );
  assert.deepEqual([past.status, past.json.fields[0].path], [422, 'expiresAt']);
  assert.equal((await ask('DELETE', `/api/tokens/${token.id}`, undefined, browser)).status, 204);
  assert.equal((await ask('GET', '/api/members', undefined, program)).status, 401);
});
