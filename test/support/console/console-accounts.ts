/** Signed-in members of a console under test, written to its store; sign-in by link and form has its own tests. */

import { createPasswords } from '../../../src/admin/access/passwords.ts';
import { createSessions } from '../../../src/admin/access/sessions.ts';
import type { Role } from '../../../src/core/role.ts';
import type { StoredMember } from '../../../src/core/store/members.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openStore } from '../../../src/store/open-store.ts';

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly name: string;
  /** Of a session that is signed in. */
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ReturnType<typeof JSON.parse>>;
  /** Of another session, whose proof is too old for what gives lasting power. */
  openStale(): Promise<Account['cookies']>;
}

export interface Accounts {
  get(role: Role): Promise<Account>;
}

export interface AccountsStore {
  /** Of the console. */
  readonly url: string;
  /** The gateway's. */
  readonly store: string;
  /** The gateway's. */
  readonly cwd: string;
}

const password = 'a long enough password';
/** A password is checked at the cost that stands beside it: a small one keeps the tests quick. */
const smallCost = { cost: 2 ** 10, blockSize: 8, parallelization: 1 };

/** One for each role, made on first use, with an owner beside the others. */
export function createAccounts({ url, store: address, cwd }: AccountsStore): Accounts {
  const made = new Map<Role, Promise<Account>>();

  async function make(role: Role): Promise<Account> {
    if (role !== 'owner') await get('owner');
    const facts = { email: `${role}@example.com`, name: `${role[0]?.toUpperCase()}${role.slice(1)} Example` };
    const member = await withStore((store) => join(store, { ...facts, role }));
    const opened = await withStore((store) => signIn(store, member, Date.now()));
    const openStale = () => withStore(async (store) => toCookies(await signIn(store, member, 0)));
    return { ...toAccount(url, { ...facts, password }, opened), openStale };
  }

  async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore(address, { cwd });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  function get(role: Role): Promise<Account> {
    const found = made.get(role) ?? make(role);
    made.set(role, found);
    return found;
  }

  return { get };
}

async function join(store: Store, facts: { readonly email: string; readonly name: string; readonly role: Role }) {
  const passwordHash = await createPasswords(smallCost).hash(password);
  const member = await store.members.create({ ...facts, passwordHash }, 'test');
  if (member === 'taken') throw new Error(`${facts.email} is a member already`);
  return member;
}

function signIn(store: Store, member: StoredMember, provedAtMs: number) {
  const sessions = createSessions({ store, clock: systemClock, isSecure: () => false });
  return sessions.open(member, 'password', { headers: new Headers(), address: '127.0.0.1' }, provedAtMs);
}

function toCookies({ cookie }: { readonly cookie: string }): Account['cookies'] {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
  return [{ name, value }];
}

function toAccount(
  url: string,
  facts: Pick<Account, 'email' | 'name' | 'password'>,
  opened: { readonly cookie: string; readonly csrfToken: string },
): Omit<Account, 'openStale'> {
  const cookies = toCookies(opened);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const { csrfToken } = opened;
  const standing = { cookie, 'x-postern-csrf': csrfToken, 'content-type': 'application/json' };
  return {
    ...facts,
    cookies,
    async ask(method, path, body, headers = {}) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(url + path, { method, headers: { ...standing, ...headers }, ...sent });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
  };
}
