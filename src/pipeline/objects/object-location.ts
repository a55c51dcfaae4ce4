/** Finds the location of the stored objects that a request names, to which it must be sent: one upstream, and the account of one credential. */

import type { Candidate, RoutePlan } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Credential, Snapshot, Upstream } from '../../core/snapshot.ts';
import { type StoredObject, storedKinds } from '../../core/store/stored-objects.ts';
import { type NamedObjects, type Naming, notStored } from '../../plan/named-objects.ts';
import type { ObjectRegistry } from './object-registry.ts';

/** The account of one credential at one upstream. */
export interface ObjectLocation {
  readonly upstream: Upstream;
  readonly credential: Credential;
}

interface NamedLocation extends ObjectLocation {
  /** The request field that names something at the location; undefined where the request could do without it. */
  readonly param?: string | undefined;
}

interface Asker {
  readonly owner: string;
  readonly snapshot: Pick<Snapshot, 'upstreams'>;
}

/** The location that a request must go to; undefined where any will do. Throws for another owner's object. Returns no promise without a look-up. */
export function locationOf(
  { needed, mentioned }: NamedObjects,
  asker: Asker,
  objects: ObjectRegistry,
): NamedLocation | undefined | Promise<NamedLocation | undefined> {
  if (needed.length === 0 && mentioned.length === 0) return undefined;
  // A mentioned ID may be of any kind.
  const anything = mentioned.flatMap(({ id }) => storedKinds.map((kind) => ({ kind, id })));
  const found = objects.find([...needed, ...anything], asker.owner);
  const location = (all: readonly StoredObject[]) => commonLocation(needed, mentioned, finderIn(all, asker));
  return found instanceof Promise ? found.then(location) : location(found);
}

interface Found {
  /** The locations of the owner's object, the newest first; one ID may exist at several. */
  readonly locations: readonly ObjectLocation[];
  readonly isOthers: boolean;
}

type Finder = (naming: Naming) => Found;

function finderIn(all: readonly StoredObject[], { owner, snapshot }: Asker): Finder {
  const byId = Map.groupBy(all, ({ id }) => id);
  return ({ kind, id }) => {
    const named = byId.get(id) ?? [];
    const own = named.filter((object) => object.owner === owner);
    const locations = own.flatMap((object) => (object.kind === kind ? (locationOfObject(object, snapshot) ?? []) : []));
    return { locations, isOthers: own.length === 0 && named.length > 0 };
  };
}

/** The location of an object; undefined where its upstream or credential is no longer configured. */
export function locationOfObject(
  { upstream: id, credential: fingerprint }: Pick<StoredObject, 'upstream' | 'credential'>,
  { upstreams }: Pick<Snapshot, 'upstreams'>,
): ObjectLocation | undefined {
  const upstream = upstreams.get(id);
  if (upstream === undefined) return undefined;
  const { credentials } = upstream;
  // A single credential that was replaced by another belongs to the same account.
  const credential =
    credentials.length === 1 ? credentials[0] : credentials.find((one) => one.fingerprint === fingerprint);
  return credential !== undefined && credential.weight > 0 ? { upstream, credential } : undefined;
}

function commonLocation(
  needed: readonly Naming[],
  mentioned: readonly Naming[],
  find: Finder,
): NamedLocation | undefined {
  let sure: readonly ObjectLocation[] | undefined;
  for (const naming of needed) {
    const { locations } = find(naming);
    if (locations.length === 0) throw notStored(naming.param);
    sure = sure === undefined ? locations : common(sure, locations);
    if (sure.length === 0) throw apart(naming.param);
  }
  let likely: readonly ObjectLocation[] | undefined;
  for (const naming of mentioned) {
    const { locations, isOthers } = find(naming);
    if (isOthers) throw notStored(naming.param);
    if (locations.length > 0) likely = likely === undefined ? locations : common(likely, locations);
  }
  const location = (sure ?? likely)?.[0];
  return location && { ...location, param: needed[0]?.param };
}

const common = (some: readonly ObjectLocation[], others: readonly ObjectLocation[]): ObjectLocation[] =>
  some.filter((one) => others.some(({ credential }) => credential === one.credential));

function apart(param: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The object in "${param}" is stored at another upstream than the other objects of this request; send the content of one of them instead.`,
  });
}

interface LocatedPlan {
  readonly routePlan: RoutePlan;
  /** The only credential that may be used; undefined where any may be. */
  readonly credential: Credential | undefined;
}

/** Limits a plan to the targets at the location. Throws where there are none, and the request needs them. */
export function routePlanAt(routePlan: RoutePlan, location: NamedLocation | undefined, modelId: string): LocatedPlan {
  if (location === undefined) return { routePlan, credential: undefined };
  const { upstream, credential, param } = location;
  const isThere = ({ target }: Candidate): boolean => target.upstream === upstream;
  const tiers = routePlan.tiers.map((tier) => tier.filter(isThere)).filter((tier) => tier.length > 0);
  if (tiers.length === 0) {
    if (param !== undefined) throw elsewhere(param, modelId);
    return { routePlan, credential: undefined };
  }
  return { routePlan: { ...routePlan, tiers, alone: tiers.flat().length === 1 }, credential };
}

function elsewhere(param: string, modelId: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The object in "${param}" is stored at an upstream that does not serve the model "${modelId}"; name the model that made it, or send its content instead.`,
  });
}
