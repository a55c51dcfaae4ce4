/** Finds which of a request's key, project and model have limits or budgets, once per pair of key and model. */

import type { Caps, Holder, HolderKind } from '../core/caps.ts';
import { GatewayError } from '../core/errors.ts';
import type { KeyRecord, Project } from '../core/key.ts';
import type { Model, Upstream } from '../core/snapshot.ts';
import { getOrMake } from '../lib/get-or-make.ts';

/** The holders (key, project, model or upstream) whose limits and budgets apply to a request. */
export interface Capped {
  /** Holders with rates or a concurrency limit. */
  readonly limited: readonly Holder[];
  readonly budgeted: readonly Holder[];
}

export interface CappedExchange extends Capped {
  readonly project: Project | undefined;
  /** True where neither these holders nor any upstream of the model have limits or budgets. */
  readonly isFree: boolean;
  /** True where one of these holders, or an upstream of the model, has a budget. */
  readonly isBudgeted: boolean;
}

const nobody: Capped = Object.freeze({ limited: Object.freeze([]), budgeted: Object.freeze([]) });

export class CappedIndex {
  readonly #exchanges = new WeakMap<Model, WeakMap<KeyRecord, CappedExchange>>();
  readonly #upstreams = new WeakMap<Upstream, Capped>();
  readonly #keys = new WeakMap<KeyRecord, Capped>();

  /** The caps for a key and a model. Throws where this process does not know the key's project, and so not its caps. */
  exchange(key: KeyRecord, projects: ReadonlyMap<string, Project>, model: Model): CappedExchange {
    const project = key.project === undefined ? undefined : projects.get(key.project);
    if (project === undefined && key.project !== undefined) throw unknownProject(key.project);
    const byKey = getOrMake(this.#exchanges, model, newExchanges);
    const known = byKey.get(key);
    if (known !== undefined && known.project === project) return known;
    const found = this.#look(key, project, model);
    byKey.set(key, found);
    return found;
  }

  key(key: KeyRecord): Capped {
    return getOrMake(this.#keys, key, cappedKey);
  }

  upstream(upstream: Upstream): Capped {
    return getOrMake(this.#upstreams, upstream, cappedUpstream);
  }

  #look(key: KeyRecord, project: Project | undefined, model: Model): CappedExchange {
    const holders = [holder('key', key)];
    if (project !== undefined) holders.push(holder('project', project));
    holders.push(holder('model', model));
    const capped = toCapped(holders);
    const isFree = capped === nobody && model.targets.every(({ upstream }) => this.upstream(upstream) === nobody);
    const isBudgeted =
      capped.budgeted.length > 0 || model.targets.some(({ upstream }) => this.upstream(upstream).budgeted.length > 0);
    return { ...capped, project, isFree, isBudgeted };
  }
}

const newExchanges = (): WeakMap<KeyRecord, CappedExchange> => new WeakMap();
const cappedKey = (key: KeyRecord): Capped => toCapped([holder('key', key)]);
const cappedUpstream = (upstream: Upstream): Capped => toCapped([holder('upstream', upstream)]);

/** The error for a project that is not in the configuration: not read yet, or removed from the file while the store has keys in it. */
function unknownProject(id: string): GatewayError {
  return new GatewayError('store_unavailable', {
    message: `The project ${JSON.stringify(id)} of this key is unknown, so its budgets cannot be checked; try again in a moment, or ask the operator to declare it again or to move the key.`,
    headers: ['Retry-After', '1'],
    cause: 'unknown project',
  });
}

function holder(kind: HolderKind, { id, caps }: { readonly id: string; readonly caps: Caps }): Holder {
  return { kind, id, caps };
}

function toCapped(holders: readonly Holder[]): Capped {
  const limited = holders.filter(({ caps }) => caps.rates.length > 0 || caps.concurrency !== undefined);
  const budgeted = holders.filter(({ caps }) => caps.budgets.length > 0);
  return limited.length === 0 && budgeted.length === 0 ? nobody : { limited, budgeted };
}
