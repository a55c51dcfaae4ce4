/** Calls of the store itself with a hostile text in every parameter. */

import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { LedgerRow } from '../../../../src/core/accounting/ledger-row.ts';
import type { BudgetAccount } from '../../../../src/core/store/budgets.ts';
import type { Store } from '../../../../src/core/store/store.ts';
import { StoreError } from '../../../../src/store/store-error.ts';
import { newKey } from '../../../support/gateways/keys.ts';
import { toStored } from '../../../support/json/hostile-texts.ts';
import { ledgerRow, rowId, rowOfText } from '../../../support/ledger/ledger-rows.ts';

export interface StoreCalls {
  readonly count: number;
  readonly faults: readonly string[];
  readonly slowestMs: number;
  /** Keys. */
  readonly made: number;
}

const startMs = Date.UTC(2027, 0, 1);
/** The ledger keeps so much of a name, and so much of a model's. */
const kept = { name: 128, model: 256 };
/** Longer ones of resources are refused, with a sentence. */
const longestIdBytes = 512;

export async function callStore(store: Store, texts: readonly string[]): Promise<StoreCalls> {
  const caller = new Caller();
  for (const [number, text] of texts.entries()) {
    await callKeys(caller, store, text);
    await callSettings(caller, store, text);
    await callLedger(caller, store, text, number);
    await callBudgets(caller, store, text, number);
    await callOthers(caller, store, text);
    await callObjects(caller, store, text);
  }
  await compareRows(caller, store, texts);
  return caller;
}

class Caller implements StoreCalls {
  count = 0;
  slowestMs = 0;
  made = 0;
  readonly faults: string[] = [];

  /** `allows`: errors that report a wrong argument. */
  async call<T>(what: string, run: () => Promise<T>, allows = false): Promise<T | undefined> {
    // A store in this thread answers without a pause, and others are measured on the same loop.
    await setImmediate();
    const startedMs = performance.now();
    this.count += 1;
    try {
      return await run();
    } catch (error) {
      if (!(allows && (error instanceof RangeError || error instanceof StoreError)))
        this.faults.push(`${what}: ${error}`);
      return undefined;
    } finally {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedMs);
    }
  }

  expect(what: string, found: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(found, wanted)) return;
    this.faults.push(
      `${what}: ${JSON.stringify(found)?.slice(0, 100)} instead of ${JSON.stringify(wanted)?.slice(0, 100)}`,
    );
  }
}

async function callKeys(caller: Caller, { keys }: Store, text: string): Promise<void> {
  const metadata = { [text]: text };
  const made = await caller.call('keys.create', () =>
    keys.create(newKey({ name: text, models: [text], metadata }), text),
  );
  if (made === undefined) return;
  caller.made += 1;
  const found = await caller.call('keys.get', () => keys.get(made.id));
  caller.expect('the name of a key', found?.name, toStored(text));
  caller.expect('the models of a key', found?.models, [text]);
  caller.expect('what is noted about a key', found?.metadata, { [text]: text });
  await caller.call('keys.change', () => keys.change(made.id, { project: text }, text));
  const changed = await caller.call('keys.get', () => keys.get(made.id));
  caller.expect('the project of a key', changed?.project, toStored(text));
  caller.expect('a key by its text', await caller.call('keys.find', () => keys.find(text)), undefined);
  caller.expect('a key by no ID', await caller.call('keys.get', () => keys.get(text)), undefined);
  caller.expect(
    'a change of no key',
    await caller.call('keys.change', () => keys.change(text, { name: 'x' })),
    undefined,
  );
  caller.expect('the end of no key', await caller.call('keys.revoke', () => keys.revoke(text)), false);
  const rotated = await caller.call('keys.rotate', () => keys.rotate(text, { digest: text, hint: text }, startMs));
  caller.expect('a new secret for no key', rotated, undefined);
}

async function callSettings(caller: Caller, { settings }: Store, text: string): Promise<void> {
  await caller.call('settings.set', () => settings.set(text, { [text]: text }, text));
  const found = await caller.call('settings.get', () => settings.get(text));
  caller.expect('a setting', found, { [text]: text });
  await caller.call('settings.claim', () => settings.claim(text));
  caller.expect('what is claimed twice', await caller.call('settings.claim', () => settings.claim(text)), false);
}

/** In every column that takes text, whatever it is for. */
async function callLedger(caller: Caller, { ledger }: Store, text: string, number: number): Promise<void> {
  const row = toRow(text, number);
  const capture = { request: text, response: text, expiresAtMs: startMs };
  const position = { segment: 1, offset: number };
  await caller.call('ledger.import', () =>
    ledger.import(text, [{ row, accounts: [text, `${text}/x`], capture }], position),
  );
  caller.expect('a position', await caller.call('ledger.position', () => ledger.position(text)), position);
  const found = await caller.call('ledger.get', () => ledger.get(row.id));
  caller.expect('the model of a row', found?.model, toStored(text.slice(0, kept.model)));
  caller.expect('the key of a row', found?.key, toStored(text.slice(0, kept.name)));
  caller.expect('what a row says of its tries', found?.tries[0]?.detail, text);
  const captured = await caller.call('ledger.capture', () => ledger.capture(row.id));
  caller.expect('what was captured', captured?.request, toStored(text));
  await caller.call('ledger.page', () => ledger.page({}, { before: text, limit: 1 }), true);
  await caller.call('ledger.get', () => ledger.get(text));
  await caller.call('ledger.capture', () => ledger.capture(text));
}

function toRow(text: string, number: number): LedgerRow {
  const tries = [{ upstream: text, model: text, credential: text, outcome: text, detail: text, durationMs: 1 }];
  const startedAtMs = startMs + number;
  return ledgerRow({ ...rowOfText(text), id: rowId(startedAtMs, number), startedAtMs, tries });
}

/** Each text finds its own rows and no others. */
async function compareRows(caller: Caller, { ledger }: Store, texts: readonly string[]): Promise<void> {
  const cut = (text: string, characters: number): string => toStored(text.slice(0, characters));
  const countOf = (text: string, characters: number): number =>
    texts.filter((one) => cut(one, characters) === cut(text, characters)).length;
  const span = { fromMs: startMs, toMs: startMs + 3_600_000 };
  for (const text of texts) {
    for (const column of ['key', 'project', 'model', 'upstream'] as const) {
      const filter = { ...span, [column]: text };
      const wanted = countOf(text, column === 'model' ? kept.model : kept.name);
      const page = await caller.call('ledger.page', () => ledger.page(filter, { limit: 1_000 }));
      caller.expect(`rows by ${column} ${JSON.stringify(text.slice(0, 20))}`, page?.rows.length, wanted);
      const lines = await caller.call('ledger.usage', () => ledger.usage(filter, ['key', 'model']));
      const requests = lines?.reduce((sum, line) => sum + line.sums.requests, 0);
      caller.expect(`sums by ${column} ${JSON.stringify(text.slice(0, 20))}`, requests, wanted);
    }
  }
  caller.expect('what differs', await caller.call('ledger.verify', () => ledger.verify(span.fromMs, span.toMs)), []);
}

async function callBudgets(caller: Caller, { budgets }: Store, text: string, number: number): Promise<void> {
  // Texts that are stored alike would be one account.
  const id = `${number}/${text}`;
  const account: BudgetAccount = {
    ...{ id, holderKind: 'model', holderId: text, nanos: 1_000_000_000 },
    ...{ startsAtMs: startMs - 86_400_000, endsAtMs: startMs - 1 },
  };
  const drawn = await caller.call('budgets.draw', () => budgets.draw(account, text, 1, 600));
  caller.expect('what is granted', drawn?.grantedNanos, 600);
  await caller.call('budgets.giveBack', () => budgets.giveBack(id, text, 100));
  caller.expect('what is out', (await caller.call('budgets.state', () => budgets.state(id)))?.outstandingNanos, 500);
  await caller.call('budgets.release', () => budgets.release(text));
  caller.expect('what is out then', (await caller.call('budgets.state', () => budgets.state(id)))?.outstandingNanos, 0);
}

/** No upstream's ID is like that, and no client's word for one finds anything. */
async function callObjects(caller: Caller, { storedObjects, background, batches }: Store, text: string): Promise<void> {
  const names = (['response', 'item', 'file', 'batch'] as const).map((kind) => ({ kind, id: text }));
  const found = await caller.call('keptObjects.find', () => storedObjects.find(names));
  if (found !== undefined && found.length > 0) caller.faults.push(`keptObjects.find: found ${JSON.stringify(text)}`);
  const page = await caller.call('keptObjects.page', () =>
    storedObjects.page(text, 'file', { order: 'asc', limit: 10 }),
  );
  if (page !== undefined && page.length > 0) caller.faults.push(`keptObjects.page: found ${JSON.stringify(text)}`);
  const lies = { owner: `project/${text}`, upstream: 'up', credential: 'c', model: text, createdAtMs: startMs };
  await caller.call('keptObjects.add', () => storedObjects.add([{ kind: 'item', id: 'msg_1', ...lies }]));
  const named = { kind: 'item', id: text, upstream: 'up' } as const;
  await caller.call('keptObjects.describe', () => storedObjects.describe(named, '{}'));
  await caller.call('keptObjects.remove', () => storedObjects.remove({ kind: 'item', id: 'msg_1', upstream: 'up' }));
  await caller.call('background.get', () => background.get(text, text));
  await caller.call('background.claim', () => background.claim(text, { handsMs: 1, most: 1 }));
  await caller.call('background.release', () => background.release(text));
  await caller.call('batches.ofProject', () => batches.ofProject(text));
}

/** Writes that may be lost do not wait: while the gateway writes to the same file, they are refused at once. */
async function untilFree<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === 100 || !(error instanceof StoreError && error.message.includes('held by another process')))
        throw error;
      await wait(5);
    }
  }
}

async function callOthers(caller: Caller, { resources, audit, health, changes }: Store, text: string): Promise<void> {
  const isLong = Buffer.byteLength(text) > longestIdBytes;
  const put = await caller.call(
    'resources.put',
    () => resources.put('project', text, { id: text, [text]: text }, { actor: text }),
    isLong,
  );
  caller.expect('a resource', put !== undefined && put !== 'conflict', !isLong);
  const found = await caller.call('resources.get', () => resources.get('project', text));
  caller.expect('the ID of a resource', found?.id, isLong ? undefined : toStored(text));
  await caller.call('resources.remove', () => resources.remove('project', text, { actor: text }));
  await caller.call('audit.add', () =>
    audit.add({ actor: text, action: text, subject: text, before: text, after: { [text]: text } }),
  );
  await caller.call('audit.page', () => audit.page({ before: text, limit: 10 }), true);
  await caller.call('health.report', () => untilFree(() => health.report(text, [])));
  await caller.call('health.latest', () => health.latest(1_000));
  await caller.call('health.withdraw', () => untilFree(() => health.withdraw(text)));
  await caller.call('changes.since', () => changes.since(undefined));
}
