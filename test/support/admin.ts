/** The admin API on a store and a configuration of its own, asked as a signed-in member or as nobody. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createAdminApi } from '../../src/admin/api.ts';
import type { Caller } from '../../src/admin/caller.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { endpoints } from '../../src/admin/endpoints/index.ts';
import type { Role } from '../../src/admin/roles.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { families } from '../../src/families/index.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';

const csrfToken = 'csrf-token-of-the-test';

export interface AdminAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where there is no body. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface AdminOptions {
  /** As whom to ask; nobody where it is null. */
  readonly role?: Role | null;
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openAdmin(t: TestContext, { role = 'owner', configuration, env = {} }: AdminOptions = {}) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-admin-'));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  const file = join(cwd, 'postern.yaml');
  await writeFile(file, JSON.stringify({ store: 'sqlite::memory:', ...configuration }));
  const loaded = await loadConfiguration({ configPath: file, env, cwd, families });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
  const store = await openStore('sqlite::memory:', { cwd });
  t.after(() => store.close());

  let caller = toCaller(role);
  const context: AdminContext = {
    store,
    clock: systemClock,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    version: '0.0.0',
    families,
    configuration: { snapshot: () => loaded.snapshot, file: () => loaded.file, warnings: () => loaded.warnings },
    access: { identify: async () => caller },
    clientUrl: () => 'http://127.0.0.1:4000',
  };
  const api = createAdminApi(endpoints, context);

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<AdminAnswer> {
    const request = new Request(`http://127.0.0.1:4001${path}`, {
      method,
      headers: {
        host: '127.0.0.1:4001',
        ...(caller.kind === 'member' ? { 'x-postern-csrf': csrfToken } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await api.fetch(request, { address: '127.0.0.1' });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    ask,
    store,
    context,
    cwd,
    become(next: Role | null): void {
      caller = toCaller(next);
    },
  };
}

function toCaller(role: Role | null): Caller {
  if (role === null) return { kind: 'nobody' };
  return { kind: 'member', memberId: `member-${role}`, name: `${role}@example.com`, role, sessionId: 's', csrfToken };
}
