/** `postern keys`: makes, lists and revokes the virtual keys of the store. */

import { loadConfiguration } from '../config/load.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Store, StoredKey } from '../core/store.ts';
import { systemClock } from '../lib/clock.ts';
import { createSecret, digestOf, hintOf } from '../lib/key-secret.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { openStore } from '../store/open-store.ts';
import { StoreError } from '../store/store-error.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { printFaults } from './faults.ts';
import { modelWarnings, readKeyLimits } from './key-options.ts';
import { toTable } from './table.ts';
import { UserFault } from './user-fault.ts';

interface Action {
  /** What follows `postern keys`. */
  readonly usage: string;
  readonly options: readonly string[];
  readonly operandCount: number;
  /** Reads its options before the store is opened, and gives back what is to be done with it. */
  prepare(context: CommandContext): (store: Store, snapshot: Snapshot) => Promise<void>;
}

const actions: Readonly<Record<string, Action>> = {
  create: {
    usage:
      'create [--name N] [--models a,b] [--operations x,y] [--addresses cidr,..] [--expires 30d|2027-01-01] [--json]',
    options: ['name', 'models', 'operations', 'addresses', 'expires', 'json'],
    operandCount: 0,
    prepare: create,
  },
  list: { usage: 'list [--json]', options: ['json'], operandCount: 0, prepare: list },
  revoke: { usage: 'revoke ID', options: [], operandCount: 1, prepare: revoke },
};

export const keys: Command = {
  name: 'keys',
  summary: 'Makes, lists and revokes virtual keys.',
  usage: 'keys create|list|revoke [--config F] [--json]',
  options: {
    config: { type: 'string' },
    name: { type: 'string' },
    models: { type: 'string' },
    operations: { type: 'string' },
    addresses: { type: 'string' },
    expires: { type: 'string' },
    json: { type: 'boolean' },
  },
  run,
};

async function run(context: CommandContext): Promise<ExitCode> {
  const { values, env, cwd, families, stderr } = context;
  const act = findAction(context).prepare(context);
  const configPath = typeof values.config === 'string' ? values.config : undefined;
  const loaded = await loadConfiguration({ configPath, env, cwd, families });
  if (!loaded.ok) {
    printFaults(loaded, stderr);
    return 1;
  }
  try {
    const store = await openStore(loaded.snapshot.store, { cwd });
    try {
      await act(store, loaded.snapshot);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw error instanceof StoreError ? new UserFault(error.message) : error;
  }
  return 0;
}

function findAction({ positionals, values }: CommandContext): Action {
  const [name = '', ...operands] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    if (name === '') {
      const usages = Object.values(actions).map(({ usage }) => `"postern keys ${usage}"`);
      throw new UserFault(`say what to do with keys: ${usages.join(', ')}`);
    }
    const names = Object.keys(actions);
    const near = nearestName(name, names);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new UserFault(`there is no "keys ${name}"${hint} (there are ${names.join(', ')})`);
  }
  const foreign = Object.keys(values).find((option) => option !== 'config' && !action.options.includes(option));
  if (foreign !== undefined) throw new UserFault(`"keys ${name}" takes no --${foreign} (usage: keys ${action.usage})`);
  if (operands.length !== action.operandCount) throw new UserFault(`write it as "postern keys ${action.usage}"`);
  return action;
}

function create({ values, stdout, stderr }: CommandContext) {
  const limits = readKeyLimits(values, systemClock.nowMs());
  return async (store: Store, snapshot: Snapshot) => {
    const secret = createSecret();
    const key = await store.keys.create({ ...limits, digest: digestOf(secret), hint: hintOf(secret) });
    for (const warning of modelWarnings(key.models, snapshot.models)) stderr(`postern: ${warning}`);
    if (values.json === true) {
      stdout(JSON.stringify({ ...describe(key, systemClock.nowMs()), secret }, null, 2));
      return;
    }
    stdout(`Key ${key.id} is made. Its secret is shown only now; keep it safe:`);
    stdout('');
    stdout(`  ${secret}`);
    stdout('');
  };
}

function list({ values, stdout }: CommandContext) {
  return async (store: Store, snapshot: Snapshot) => {
    const nowMs = systemClock.nowMs();
    const rows = (await store.keys.list()).map((key) => describe(key, nowMs));
    if (values.json === true) {
      stdout(JSON.stringify(rows, null, 2));
      return;
    }
    const lines = toTable(
      ['ID', 'NAME', 'HINT', 'MODELS', 'CREATED', 'EXPIRES', 'STATE'],
      rows.map(({ id, name, hint, models, created_at, expires_at, state }) =>
        [id, name || '-', hint, models.join(', ') || '-', created_at, expires_at ?? '-', state].map(toPrintable),
      ),
    );
    if (rows.length === 0) stdout('The store holds no key; "postern keys create" makes one.');
    else for (const line of lines) stdout(line);
    if (snapshot.keys.size > 0) {
      const ids = Array.from(snapshot.keys.values(), ({ id }) => id);
      stdout(`The configuration file declares ${ids.length} more: ${ids.map(toPrintable).join(', ')}`);
    }
  };
}

function revoke({ positionals, stdout }: CommandContext) {
  const id = positionals[1] ?? '';
  return async (store: Store, snapshot: Snapshot) => {
    if (await store.keys.revoke(id)) {
      stdout(`Key ${id} is revoked; a running gateway refuses it within two seconds.`);
      return;
    }
    for (const key of snapshot.keys.values()) {
      if (key.id === id) throw new UserFault(`key ${id} is declared in the configuration file; remove it there`);
    }
    // Never what was typed: it may be a secret.
    throw new UserFault('there is no key with this ID; "postern keys list" shows those there are');
  };
}

/** A key as scripts read it. */
function describe(key: StoredKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    models: key.models,
    operations: key.operations ?? null,
    addresses: key.addresses ?? null,
    created_at: toInstantText(key.createdAtMs),
    expires_at: key.expiresAtMs === undefined ? null : toInstantText(key.expiresAtMs),
    revoked_at: key.revokedAtMs === undefined ? null : toInstantText(key.revokedAtMs),
    state: stateOf(key, nowMs),
  };
}

function stateOf({ revokedAtMs, expiresAtMs }: StoredKey, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (revokedAtMs !== undefined) return 'revoked';
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active';
}

const toInstantText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** Whatever a name holds, it moves no cursor. */
const toPrintable = (text: string): string => text.replace(/\p{Cc}/gu, '?');
