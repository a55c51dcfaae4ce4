/** An upstream as operators see it: what is written of it, what holds, and how its targets are on all nodes together. */

import type { Family } from '../../core/family.ts';
import type { ConfiguredElement, ElementDocument } from '../../core/resource-desk.ts';
import type { Snapshot, Upstream } from '../../core/snapshot.ts';
import { type HealthReport, type TargetState, targetStates } from '../../core/target-state.ts';
import { callsOf, shownState } from '../known-state.ts';
import { toManaged } from '../models/model-view.ts';

interface Surroundings {
  readonly snapshot: Snapshot;
  readonly families: readonly Family[];
  readonly reports: readonly HealthReport[];
}

const worstFirst = [...targetStates, 'unknown'] as const;
type State = TargetState['state'] | 'unknown';

/** Where it is not in force yet, what was written counts before what holds. */
export function toUpstreamView(element: ConfiguredElement, { snapshot, families, reports }: Surroundings) {
  const { id, document, inForce } = element;
  const compiled = snapshot.upstreams.get(id);
  const holds = inForce ? compiled : undefined;
  const familyId = typeof document.family === 'string' ? document.family : '';
  const family = families.find((one) => one.id === familyId);
  const heard = reports.flatMap(({ node, targets }) =>
    targets.filter(({ upstream }) => upstream === id).map((state) => ({ node, ...state })),
  );
  const restingCredentials = new Set(heard.flatMap((one) => one.restingCredentials));
  const worst = worstOf(heard);
  return {
    id,
    family: { id: familyId, title: family?.title ?? familyId, listsModels: family?.modelList !== undefined },
    address: addressOf(holds) ?? (typeof document.base_url === 'string' ? document.base_url : null),
    credentials: credentialsIn(document, element.managedBy === 'store').map((credential) => ({
      ...credential,
      resting: restingCredentials.has(credential.id),
    })),
    limits: {
      concurrency: compiled?.limits.concurrency ?? 0,
      queue: compiled?.limits.queue ?? 0,
    },
    healthCheck: document.health_check !== undefined,
    ...summaryOf(heard, worst),
    nodes: nodesOf(heard),
    targets: targetsOf(id, snapshot, heard),
    models: modelsOf(id, snapshot),
    ...toManaged({ ...element, inForce: inForce && compiled !== undefined }),
  };
}

export type UpstreamView = ReturnType<typeof toUpstreamView>;

/** Without a user or a query, which a base URL may not have. */
export function addressOf(upstream: Upstream | undefined): string | null {
  return upstream?.origin === undefined ? null : upstream.origin + upstream.pathPrefix;
}

type Heard = TargetState & { readonly node: string };

function worstOf(heard: readonly Heard[]): Heard | undefined {
  for (const state of worstFirst) {
    const found = heard.filter((one) => shownState(one) === state).toSorted((a, b) => b.restsForMs - a.restsForMs)[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

function summaryOf(heard: readonly Heard[], worst: Heard | undefined) {
  const state: State = worst === undefined ? 'unknown' : shownState(worst);
  return {
    state,
    why: worst?.why ?? null,
    restsForMs: worst?.restsForMs ?? 0,
    inFlight: sum(heard.map((one) => one.inFlight)),
    // They wait at the upstream, which each of its targets says.
    waiting: sum([...byNode(heard).values()].map((states) => Math.max(...states.map((one) => one.waiting)))),
    latencyMs: meanOfKnown(heard),
    ...callsOf(heard),
  };
}

function nodesOf(heard: readonly Heard[]) {
  return [...byNode(heard)].map(([node, states]) => ({ node, ...summaryOf(states, worstOf(states)) }));
}

function targetsOf(upstreamId: string, snapshot: Snapshot, heard: readonly Heard[]) {
  const names = new Map<string, string[]>();
  for (const { id, targets } of snapshot.models.all) {
    for (const { upstream, model } of targets) {
      if (upstream.id === upstreamId) names.set(model, [...(names.get(model) ?? []), id]);
    }
  }
  return [...names].map(([model, models]) => {
    const own = heard.filter((one) => one.model === model);
    const { waiting: _, ...summary } = summaryOf(own, worstOf(own));
    return { model, models, isListed: own.every((one) => one.isListed !== false), ...summary };
  });
}

function modelsOf(upstreamId: string, snapshot: Snapshot): string[] {
  return snapshot.models.all
    .filter(({ targets }) => targets.some(({ upstream }) => upstream.id === upstreamId))
    .map(({ id }) => id);
}

function byNode(heard: readonly Heard[]): Map<string, Heard[]> {
  const nodes = new Map<string, Heard[]>();
  for (const one of heard) nodes.set(one.node, [...(nodes.get(one.node) ?? []), one]);
  return nodes;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function meanOfKnown(heard: readonly Heard[]): number {
  const known = heard.map((one) => one.latencyMs).filter((ms) => ms > 0);
  return known.length === 0 ? 0 : sum(known) / known.length;
}

/** As the compiled configuration names them. */
function credentialsIn(document: ElementDocument, isStored: boolean) {
  const { credentials } = document;
  const list: readonly unknown[] = Array.isArray(credentials) ? credentials : [document];
  return list.flatMap((entry, index) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const key: unknown = Reflect.get(entry, 'api_key');
    const file: unknown = Reflect.get(entry, 'api_key_file');
    if (key === undefined && file === undefined) return [];
    const weight: unknown = Array.isArray(credentials) ? Reflect.get(entry, 'weight') : 1;
    return [
      {
        id: list.length === 1 ? 'key' : `key ${index + 1}`,
        ...originOf(key, file, isStored),
        weight: typeof weight === 'number' && Number.isInteger(weight) ? weight : 1,
      },
    ];
  });
}

function originOf(key: unknown, file: unknown, isStored: boolean) {
  if (typeof file === 'string') return { from: 'path', hint: file } as const;
  const variable = typeof key === 'string' ? /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(key)?.[1] : undefined;
  if (!isStored && variable !== undefined) return { from: 'environment', hint: variable } as const;
  return { from: isStored ? 'store' : 'file', hint: null } as const;
}
