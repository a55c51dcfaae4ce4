/** All clients at one family: gateways before its service, and every call that the family offers. */

import type { Operation } from '../../src/core/operations/index.ts';
import { openHouse } from '../families/house.ts';
import { type Scope, startRig } from '../support/gateways/rig.ts';
import type { KnownClient } from './client.ts';
import type { Cell } from './document.ts';
import { type Trial, tasksOf } from './fixtures.ts';
import { type Listener, listenBefore } from './listener.ts';
import { tryWay } from './run.ts';

export async function tryFamily(scope: Scope, trial: Trial, clients: readonly KnownClient[]): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const operation of trial.operations) cells.push(...(await tryOperation(scope, trial, operation, clients)));
  return cells;
}

/** One after the other: what is heard belongs to the one that calls. */
async function tryOperation(
  scope: Scope,
  { name, bridge, fixture }: Trial,
  operation: Operation,
  clients: readonly KnownClient[],
): Promise<Cell[]> {
  const { [operation]: model = fixture.model } = fixture.models ?? {};
  const { rig } = await openHouse(scope, fixture, {
    target: { model, ...(bridge !== undefined && { bridge }) },
    model: { operations: [operation] },
  });
  const listener = await listenBefore(scope, rig);
  const cells: Cell[] = [];
  for (const task of tasksOf[operation] ?? []) {
    for (const client of clients) {
      const outcome = await tryWay(client, task, listener);
      if (outcome !== undefined) cells.push({ task, trial: name, client: client.package, outcome });
    }
  }
  return cells;
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
