/** Runs all clients against one family: gateways in front of its service, and every call that the family offers. */

import type { Exchange } from '../../src/core/exchange.ts';
import type { Operation } from '../../src/core/operations/index.ts';
import { openSetup } from '../families/family-setup.ts';
import { type Scope, startRig } from '../support/gateways/rig.ts';
import type { KnownClient } from './client.ts';
import { type Counted, conversing } from './conversations.ts';
import type { Cell } from './document.ts';
import { type Trial, tasksOf } from './fixtures.ts';
import { type Listener, listenBefore } from './listener.ts';
import { tryWay } from './run.ts';

export async function tryFamily(scope: Scope, trial: Trial, clients: readonly KnownClient[]): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const operation of trial.operations) cells.push(...(await tryOperation(scope, trial, operation, clients)));
  return cells;
}

/** In nano-dollars for a token. */
const price = { input: 3_000, output: 7_000 };

/** One after the other: what is heard belongs to the one that calls. */
async function tryOperation(
  scope: Scope,
  { name, bridge, fixture }: Trial,
  operation: Operation,
  clients: readonly KnownClient[],
): Promise<Cell[]> {
  const { [operation]: model = fixture.model } = fixture.models ?? {};
  const journal: Counted[] = [];
  const { rig } = await openSetup(scope, conversing(fixture, operation, journal) ?? fixture, {
    target: { model, ...(bridge !== undefined && { bridge }) },
    whole: operation === 'rerank' ? { default_model: { rerank: 'm' } } : {},
    model: { operations: [operation], price: { input: price.input / 1_000, output: price.output / 1_000 } },
  });
  const listener = await listenBefore(scope, rig);
  const cells: Cell[] = [];
  for (const task of tasksOf[operation] ?? []) {
    for (const client of clients) {
      const before = { said: journal.length, settled: rig.settled.length };
      const outcome = await tryWay(client, task, listener);
      if (outcome === undefined) continue;
      const said = journal.slice(before.said);
      if (said.length > 0) await rig.exchange(before.settled + said.length);
      const gap = gapBetween(said, rig.settled.slice(before.settled));
      const honest = outcome.kind === 'ok' && gap !== undefined ? ({ kind: 'wrong', fact: gap } as const) : outcome;
      cells.push({ task, trial: name, client: client.package, outcome: honest });
    }
  }
  return cells;
}

/** Where the books have other counts than the service. */
function gapBetween(said: readonly Counted[], settled: readonly Exchange[]): string | undefined {
  const sum = (counts: readonly (number | null | undefined)[]): number =>
    counts.reduce<number>((all, one) => all + (one ?? 0), 0);
  if (said.length === 0) return undefined;
  const service = [sum(said.map(({ input }) => input)), sum(said.map(({ output }) => output))];
  const books = [
    sum(settled.map(({ usage }) => usage?.promptTokens)),
    sum(settled.map(({ usage }) => usage?.completionTokens)),
  ];
  if (service.join() !== books.join()) return `the service counted ${service}, the books ${books}`;
  const [input = 0, output = 0] = service;
  // For usage that was not counted, the ledger has an estimate.
  if (input + output === 0) return undefined;
  const owed = input * price.input + output * price.output;
  const cost = sum(settled.map(({ bill }) => bill?.costNanos));
  return cost === owed ? undefined : `what the service counted costs ${owed}, the books have ${cost}`;
}

/** Before a gateway for calls that no family gets to see. */
export async function listenAnywhere(scope: Scope): Promise<Listener> {
  const rig = await startRig(scope, {
    upstreams: [{ id: 'up', family: 'local' }],
    models: [{ id: 'm', targets: [{ upstream: 'up', model: 'local/hash-embed' }] }],
  });
  return listenBefore(scope, rig);
}

/** For people: `rerank 5 ok, completions 3 ok 1 refused`. */
export function sumUp(cells: readonly Cell[]): string {
  const byTask = Object.groupBy(cells, ({ task }) => task);
  return Object.entries(byTask)
    .map(([task, some = []]) => {
      const kinds = Object.entries(Object.groupBy(some, ({ outcome }) => outcome.kind));
      return `${task} ${kinds.map(([kind, { length } = []]) => `${length} ${kind}`).join(' ')}`;
    })
    .join(', ');
}
