/** Conformance tests of every store: members and their credentials. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { NewMember, StoredMember } from '../../../src/core/store/members.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { digestOf } from '../../../src/lib/secrets/key-secret.ts';
import { hostileTexts } from '../json/hostile-texts.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { OpenStore } from './store-writes.ts';

const actor = 'tester';
const hourMs = 3_600_000;

const newDigest = (): string => digestOf(randomUUID());

const newMember = (more: Partial<NewMember> = {}): NewMember => ({
  email: `${randomUUID()}@example.com`,
  name: 'Ada',
  role: 'editor',
  ...more,
});

async function addMember({ members }: Store, more: Partial<NewMember> = {}): Promise<StoredMember> {
  const made = await members.create(newMember(more), actor);
  assert.notEqual(made, 'taken');
  return made as StoredMember;
}

function newSession(memberId: string, more: { digest?: string; expiresAtMs?: number } = {}) {
  const facts = {
    method: 'password',
    address: '::1',
    userAgent: 'a browser',
    expiresAtMs: Number.MAX_SAFE_INTEGER,
  } as const;
  return { digest: newDigest(), memberId, ...facts, ...more };
}

async function actionsOf({ audit }: Store): Promise<string[]> {
  return (await audit.page({ limit: 1_000 })).map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`);
}

export function describeAccess(openStore: OpenStore): void {
  const open = (t: TestContext) => openStore(t, createFakeClock());

  test('a member is found by address in any case, and each address is unique', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { members } = store;
    assert.equal(await members.any(), false);
    const made = await addMember(store, { email: ' Ada@Example.COM ', passwordHash: 'a hash', role: 'owner' });
    assert.deepEqual(made, {
      id: made.id,
      email: 'ada@example.com',
      name: 'Ada',
      role: 'owner',
      passwordHash: 'a hash',
      oidcSubject: undefined,
      passkeys: 0,
      createdAtMs: clock.nowMs(),
      lastSeenAtMs: undefined,
      disabledAtMs: undefined,
    });
    assert.equal(await members.any(), true);
    assert.deepEqual(await members.findByEmail('ADA@example.com'), made);
    assert.deepEqual([await members.get(made.id), await members.list()], [made, [made]]);
    assert.equal(await members.create(newMember({ email: 'aDa@example.com' }), actor), 'taken');
    clock.advance(5);
    await members.seen(made.id);
    assert.equal((await members.get(made.id))?.lastSeenAtMs, clock.nowMs());
  });

  test('an identity at a provider belongs to one member', async (t) => {
    const store = await open(t);
    const [one, other] = [await addMember(store, { oidcSubject: 'issuer me' }), await addMember(store)];
    assert.equal((await store.members.findBySubject('issuer me'))?.id, one.id);
    assert.equal(await store.members.create(newMember({ oidcSubject: 'issuer me' }), actor), 'taken');
    assert.equal(await store.members.change(other.id, { oidcSubject: 'issuer me' }, { actor }), 'taken');
    await store.members.change(one.id, { oidcSubject: null }, { actor });
    assert.equal(await store.members.findBySubject('issuer me'), undefined);
    assert.notEqual(await store.members.change(other.id, { oidcSubject: 'issuer me' }, { actor }), 'taken');
  });

  test('changed fields of a member are stored, and logged without the password', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { members } = store;
    // Entries of the log sort by their time.
    const step = async <T>(work: Promise<T>): Promise<T> => {
      clock.advance(1);
      return work;
    };
    await addMember(store, { role: 'owner' });
    const made = await step(addMember(store, { email: 'b@example.com' }));
    const changed = await step(members.change(made.id, { role: 'admin', name: 'Bo' }, { actor }));
    assert.deepEqual(changed, { ...made, role: 'admin', name: 'Bo' });
    await step(members.change(made.id, { passwordHash: 'CANARY-hash' }, { actor }));
    await step(members.change(made.id, { passwordHash: 'CANARY-other' }, { actor }));
    // What is so already leaves no trace.
    await members.change(made.id, { role: 'admin', disabled: false }, { actor });
    assert.equal(await members.change('nobody', { name: 'x' }, { actor }), 'absent');
    assert.equal(await step(members.remove(made.id, actor)), 'removed');
    assert.equal(await members.remove(made.id, actor), 'absent');
    const actions = (await actionsOf(store)).filter((line) => line.endsWith(' b@example.com'));
    const expected = ['member.remove', 'member.password', 'member.password', 'member.change', 'member.create'];
    assert.deepEqual(
      actions,
      expected.map((action) => `tester: ${action} b@example.com`),
    );
    assert.doesNotMatch(JSON.stringify(await store.audit.page({ limit: 100 })), /CANARY/);
  });

  test('the last owner who can sign in cannot be demoted or removed', async (t) => {
    const store = await open(t);
    const { members } = store;
    const [first, second] = [await addMember(store, { role: 'owner' }), await addMember(store, { role: 'owner' })];
    await members.change(second.id, { disabled: true }, { actor });
    assert.equal(await members.change(first.id, { role: 'admin' }, { actor }), 'last-owner');
    assert.equal(await members.change(first.id, { disabled: true }, { actor }), 'last-owner');
    assert.equal(await members.remove(first.id, actor), 'last-owner');
    await members.change(second.id, { disabled: false }, { actor });
    assert.equal(await members.remove(first.id, actor), 'removed');
    assert.equal(await members.remove(second.id, actor), 'last-owner');
  });

  test('of owners who remove one another at once, one remains', async (t) => {
    const store = await open(t);
    const owners = [];
    for (let count = 0; count < 6; count += 1) owners.push(await addMember(store, { role: 'owner' }));
    const removals = owners.map(({ id }, index) =>
      index % 2 === 0
        ? store.members.remove(id, actor)
        : store.members.change(id, { role: 'viewer' }, { actor }).then((it) => (it === 'last-owner' ? it : 'removed')),
    );
    const results = await Promise.all(removals);
    assert.equal(results.filter((result) => result === 'last-owner').length, 1);
    assert.equal((await store.members.list()).filter(({ role }) => role === 'owner').length, 1);
  });

  test("a session is found by its digest, with the member's current data", async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { sessions, members } = store;
    await addMember(store, { role: 'owner' });
    const { id } = await addMember(store);
    const session = newSession(id);
    const opened = await sessions.open(session);
    assert.ok(opened !== undefined);
    const { digest, ...facts } = session;
    const times = { createdAtMs: clock.nowMs(), seenAtMs: clock.nowMs(), provedAtMs: undefined };
    assert.deepEqual(opened, { ...facts, id: opened.id, ...times });
    const proved = await sessions.open({ ...newSession(id), provedAtMs: 42 });
    assert.equal(proved?.provedAtMs, 42);
    assert.notEqual(opened.id, digest);
    clock.advance(7);
    await sessions.seen(opened.id);
    await members.change(id, { name: 'Now' }, { actor });
    const found = await sessions.find(digest);
    assert.deepEqual([found?.session.seenAtMs, found?.member.name], [clock.nowMs(), 'Now']);
    assert.equal(await sessions.find(newDigest()), undefined);
    assert.equal(await sessions.open(newSession('nobody')), undefined);
  });

  test('a session can be ended by its own member only, and ends when the member loses access', async (t) => {
    const store = await open(t);
    const { sessions, members } = store;
    await addMember(store, { role: 'owner' });
    const { id } = await addMember(store);
    const start = async () => {
      const session = newSession(id);
      return { digest: session.digest, id: (await sessions.open(session))?.id ?? '' };
    };
    const isThere = async ({ digest }: { digest: string }) => (await sessions.find(digest)) !== undefined;

    const [one, two] = [await start(), await start()];
    assert.deepEqual((await sessions.listOf(id)).map((session) => session.id).sort(), [one.id, two.id].sort());
    assert.equal(await sessions.end(one.id, 'somebody else'), false);
    assert.equal(await sessions.end(one.id, id), true);
    assert.equal(await sessions.end(one.id, id), false);
    assert.deepEqual([await isThere(one), await isThere(two)], [false, true]);

    await members.change(id, { name: 'Other' }, { actor });
    assert.equal(await isThere(two), true);
    for (const change of [{ role: 'viewer' }, { passwordHash: 'x' }, { disabled: true }] as const) {
      await members.change(id, { disabled: false }, { actor });
      const session = await start();
      assert.equal(await isThere(session), true);
      await members.change(id, change, { actor });
      assert.equal(await isThere(session), false, JSON.stringify(change));
    }
    assert.equal(await sessions.open(newSession(id)), undefined, 'a disabled member gets no session');
    await members.change(id, { disabled: false }, { actor });
    const [kept, other] = [await start(), await start()];
    await members.change(id, { passwordHash: 'y' }, { actor, keepSession: kept.id });
    assert.deepEqual([await isThere(kept), await isThere(other)], [true, false]);
    await members.remove(id, actor);
    assert.equal(await isThere(kept), false);
  });

  test('expired sessions are deleted, and no others', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { id } = await addMember(store);
    const [old, ends, lives] = [
      newSession(id),
      newSession(id, { expiresAtMs: clock.nowMs() + hourMs }),
      newSession(id),
    ];
    await store.sessions.open(old);
    clock.advance(hourMs);
    await store.sessions.open(ends);
    await store.sessions.open(lives);
    await store.sessions.prune(clock.nowMs());
    const there = await Promise.all([old, ends, lives].map(({ digest }) => store.sessions.find(digest)));
    assert.deepEqual(
      there.map((one) => one !== undefined),
      [false, false, true],
    );
  });

  test('a token is found by its digest, listed without it, revoked for good, and deleted with its member', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { tokens } = store;
    await addMember(store, { role: 'owner' });
    const [ada, bo] = [await addMember(store), await addMember(store)];
    const token = { digest: newDigest(), hint: 'psa_1234…', memberId: ada.id, name: 'ci', role: 'viewer' } as const;
    const made = await tokens.create({ ...token, expiresAtMs: 99 }, actor);
    const { digest, ...facts } = token;
    const times = { createdAtMs: clock.nowMs(), expiresAtMs: 99, lastUsedAtMs: undefined, revokedAtMs: undefined };
    assert.deepEqual(made, { id: made?.id, ...facts, ...times });
    assert.deepEqual(await tokens.find(digest), { token: made, member: ada });
    assert.equal(await tokens.find(newDigest()), undefined);
    const other = await tokens.create({ ...token, digest: newDigest(), memberId: bo.id }, actor);
    assert.equal(await tokens.create({ ...token, digest: newDigest(), memberId: 'nobody' }, actor), undefined);
    assert.deepEqual(
      (await tokens.list(ada.id)).map(({ id }) => id),
      [made?.id],
    );
    assert.equal((await tokens.list()).length, 2);
    clock.advance(3);
    await tokens.used(made?.id ?? '');
    assert.equal((await tokens.get(made?.id ?? ''))?.lastUsedAtMs, clock.nowMs());
    assert.equal(await tokens.revoke(made?.id ?? '', actor), true);
    clock.advance(3);
    assert.equal(await tokens.revoke(made?.id ?? '', actor), true);
    assert.equal((await tokens.find(digest))?.token.revokedAtMs, clock.nowMs() - 3);
    assert.equal(await tokens.revoke('none', actor), false);
    await store.members.remove(bo.id, actor);
    assert.equal(await tokens.get(other?.id ?? ''), undefined);
    const text = JSON.stringify(await store.audit.page({ limit: 100 }));
    assert.equal(text.includes(digest), false);
    assert.equal((await actionsOf(store)).filter((line) => line.includes('token.revoke')).length, 1);
  });

  test('a passkey belongs to one member, and a counter that does not increase is reported', async (t) => {
    const store = await open(t);
    const { passkeys, members } = store;
    const [ada, bo] = [await addMember(store, { role: 'owner' }), await addMember(store)];
    const key = { id: 'cred', publicKey: new Uint8Array([1, 2, 255]), counter: 0, transports: ['usb'], name: 'key' };
    const added = await passkeys.add({ ...key, memberId: bo.id }, actor);
    assert.ok(typeof added === 'object');
    assert.deepEqual(await passkeys.find('cred'), added);
    assert.deepEqual([...added.publicKey], [1, 2, 255]);
    assert.equal(await passkeys.add({ ...key, memberId: ada.id }, actor), 'taken');
    assert.equal(await passkeys.add({ ...key, id: 'x', memberId: 'nobody' }, actor), 'absent');
    assert.equal((await members.get(bo.id))?.passkeys, 1);
    const turns: readonly (readonly [number, boolean])[] = [
      [0, true],
      [4, true],
      [4, false],
      [3, false],
      [0, false],
      [5, true],
    ];
    for (const [counter, goesUp] of turns) assert.equal(await passkeys.used('cred', counter), goesUp, `${counter}`);
    assert.equal(await passkeys.used('none', 9), false);
    assert.equal(await passkeys.rename('cred', ada.id, 'mine', actor), false);
    assert.equal(await passkeys.rename('cred', bo.id, 'phone', actor), true);
    assert.equal((await passkeys.listOf(bo.id))[0]?.name, 'phone');
    assert.equal(await passkeys.remove('cred', ada.id, actor), false);
    assert.equal(await passkeys.remove('cred', bo.id, actor), true);
    assert.deepEqual(await passkeys.listOf(bo.id), []);
    await passkeys.add({ ...key, memberId: bo.id }, actor);
    await members.remove(bo.id, actor);
    assert.equal(await passkeys.find('cred'), undefined);
  });

  test('the set-up link creates one owner, only the newest works, and none once there is an owner', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { invitations, members } = store;
    const [former, digest, late] = [newDigest(), newDigest(), newDigest()];
    const person = { email: 'Ada@example.com', name: 'Ada', passwordHash: 'hash' };
    await invitations.setUp(former, clock.nowMs() + hourMs, actor);
    await invitations.setUp(digest, clock.nowMs() + hourMs, actor);
    assert.equal(await invitations.accept(former, person), 'absent');
    assert.equal((await invitations.find(digest))?.kind, 'set-up');
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, turn) => invitations.accept(digest, { ...person, email: `${turn}@example.com` })),
    );
    assert.equal(all.filter((made) => made === 'absent').length, 5);
    const [owner, ...others] = await members.list();
    assert.deepEqual([owner?.role, owner?.passwordHash, others.length], ['owner', 'hash', 0]);
    assert.equal(await invitations.setUp(late, clock.nowMs() + hourMs, actor), undefined);
  });

  test('an invitation link works until it expires, is withdrawn, used or replaced', async (t) => {
    const clock = createFakeClock();
    const store = await openStore(t, clock);
    const { invitations, members } = store;
    const owner = await addMember(store, { role: 'owner', email: 'o@example.com' });
    const person = { email: 'ignored@example.com', name: 'Bo', passwordHash: 'hash' };
    const invite = async (email: string) => {
      const digest = newDigest();
      const made = await invitations.invite(
        { digest, email, role: 'admin', expiresAtMs: clock.nowMs() + hourMs },
        actor,
      );
      return { digest, made };
    };
    assert.equal((await invite('O@example.com')).made, 'taken');
    const replaced = await invite('b@example.com');
    const { digest, made } = await invite('B@example.com');
    assert.deepEqual(await invitations.list(), [made]);
    assert.equal(await invitations.accept(replaced.digest, person), 'absent');
    const bo = await invitations.accept(digest, person);
    assert.ok(typeof bo === 'object');
    assert.deepEqual([bo.email, bo.role, bo.name], ['b@example.com', 'admin', 'Bo']);
    assert.equal(await invitations.accept(digest, person), 'absent');

    const withdrawn = await invite('c@example.com');
    const id = typeof withdrawn.made === 'object' ? withdrawn.made.id : '';
    assert.deepEqual([await invitations.withdraw(id, actor), await invitations.withdraw(id, actor)], [true, false]);
    const old = await invite('d@example.com');
    clock.advance(hourMs);
    for (const gone of [withdrawn, old]) {
      assert.equal(await invitations.find(gone.digest), undefined);
      assert.equal(await invitations.accept(gone.digest, person), 'absent');
    }

    const session = newSession(bo.id);
    await store.sessions.open(session);
    const reset = { digest: newDigest(), memberId: bo.id, expiresAtMs: clock.nowMs() + hourMs };
    assert.equal((await invitations.reset(reset, actor))?.email, 'b@example.com');
    assert.equal(await invitations.reset({ ...reset, digest: newDigest(), memberId: 'nobody' }, actor), undefined);
    const again = await invitations.accept(reset.digest, { ...person, name: '', passwordHash: 'CANARY-new' });
    assert.deepEqual(again, {
      ...bo,
      passwordHash: 'CANARY-new',
      lastSeenAtMs: typeof again === 'object' ? again.lastSeenAtMs : 0,
    });
    assert.equal(await store.sessions.find(session.digest), undefined);
    assert.equal((await members.get(owner.id))?.role, 'owner');
    const text = JSON.stringify(await store.audit.page({ limit: 100 }));
    assert.doesNotMatch(text, /CANARY/);
    for (const secret of [digest, reset.digest]) assert.equal(text.includes(secret), false);
  });

  test('sign-in attempts are counted across callers, and parallel attempts do not exceed the limit', async (t) => {
    const clock = createFakeClock();
    const { attempts } = await openStore(t, clock);
    const waitMs = (count: number) => (count < 3 ? 0 : 1_000 * count);
    const all = await Promise.all(Array.from({ length: 10 }, () => attempts.begin('a', waitMs)));
    assert.equal(all.filter((wait) => wait === 0).length, 3);
    assert.deepEqual(new Set(all), new Set([0, 3_000]));
    clock.advance(2_999);
    assert.equal(await attempts.begin('a', waitMs), 1);
    clock.advance(1);
    assert.equal(await attempts.begin('a', waitMs), 0);
    assert.equal(await attempts.begin('a', waitMs), 4_000);
    assert.equal(await attempts.begin('b', waitMs), 0);
    await attempts.succeeded('a');
    assert.equal(await attempts.begin('a', waitMs), 0);
    for (let turn = 0; turn < 3; turn += 1) await attempts.begin('b', waitMs);
    clock.advance(25 * hourMs);
    assert.equal(await attempts.begin('b', () => 5), 0, 'what was long ago is forgotten');
  });

  test('hostile text in members is stored as text, and finds nothing in searches', async (t) => {
    const store = await open(t);
    await addMember(store, { role: 'owner' });
    for (const [index, text] of hostileTexts.entries()) {
      const short = text.slice(0, 200);
      assert.equal(await store.members.get(short), undefined);
      assert.equal(await store.members.findBySubject(short), undefined);
      assert.equal(await store.sessions.end(short, short), false);
      assert.equal(await store.tokens.get(short), undefined);
      assert.equal(await store.passkeys.find(short), undefined);
      assert.equal(await store.invitations.withdraw(short, text), false);
      await store.attempts.begin(short, () => 0);
      const member = await addMember(store, { email: `${index}${short}@example.com`, name: text });
      await store.sessions.open({ ...newSession(member.id), address: text, userAgent: text });
      assert.equal(await store.members.remove(member.id, text), 'removed');
    }
    assert.equal((await store.members.list()).length, 1);
  });
}
