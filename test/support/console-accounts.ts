/** Members of a console under test: the first owner by the set-up link, the others by invitation. */

import type { Session } from '../../src/admin/contract.ts';
import type { Role } from '../../src/admin/roles.ts';

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly name: string;
  /** Of a session that is signed in. */
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
  ask(method: string, path: string, body?: unknown): Promise<ReturnType<typeof JSON.parse>>;
}

export interface Accounts {
  get(role: Role): Promise<Account>;
}

const password = 'a long enough password';

/** One for each role, made when it is first asked for. */
export function createAccounts(url: string, setUpLink: string): Accounts {
  const made = new Map<Role, Promise<Account>>();

  async function make(role: Role): Promise<Account> {
    const facts = { email: `${role}@example.com`, name: `${role[0]?.toUpperCase()}${role.slice(1)} Example` };
    if (role === 'owner') return begin('/api/setup', { token: tokenIn(setUpLink), ...facts, password }, facts);
    const owner = await get('owner');
    const { link } = await owner.ask('POST', '/api/members', { email: facts.email, role });
    return begin('/api/invitations/accept', { token: tokenIn(link), name: facts.name, password }, facts);
  }

  async function begin(
    path: string,
    body: object,
    facts: { readonly email: string; readonly name: string },
  ): Promise<Account> {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    const cookies = response.headers.getSetCookie().map(toCookie);
    const session = (await response.json()) as Session;
    const headers = {
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
      'x-postern-csrf': session.csrfToken ?? '',
      'content-type': 'application/json',
    };
    return {
      ...facts,
      password,
      cookies,
      async ask(method, asked, sent) {
        const answer = await fetch(url + asked, {
          method,
          headers,
          ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
        });
        const text = await answer.text();
        if (!answer.ok) throw new Error(`${method} ${asked}: ${answer.status} ${text}`);
        return text === '' ? undefined : JSON.parse(text);
      },
    };
  }

  function get(role: Role): Promise<Account> {
    const found = made.get(role) ?? make(role);
    made.set(role, found);
    return found;
  }

  return { get };
}

function tokenIn(link: string): string {
  const [, token] = /#token=([\w-]+)/.exec(link) ?? [];
  if (token === undefined) throw new Error(`no token in ${link}`);
  return token;
}

function toCookie(line: string): { name: string; value: string } {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  return { name, value };
}
