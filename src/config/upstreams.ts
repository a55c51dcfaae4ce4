/** The `upstreams` section as the pipeline uses it: addresses resolved, credentials read, headers ready to send. */

import type { Family, Offer } from '../core/family.ts';
import { labels, operations } from '../core/operation.ts';
import { offerKey, type Upstream } from '../core/snapshot.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type CompileContext, createClaims, quoted } from './context.ts';
import { type Key, readKeys, toCredentials } from './credentials.ts';
import type { Entry } from './document.ts';
import { type Path, suggestion, toPathText } from './faults.ts';
import { toForwardHeaders, toStaticHeaders } from './header-rules.ts';
import { toHealthCheck } from './health-check.ts';
import { toLimits } from './limits.ts';
import { holdsSecret, secretIn, spellingsOf } from './secret-spellings.ts';
import { toTimeouts } from './timeouts.ts';
import type { UpstreamEntry } from './upstream-schema.ts';
import { toUpstreamTls } from './upstream-tls.ts';

export interface CompiledUpstreams {
  readonly byId: ReadonlyMap<string, Upstream>;
  /** How many credentials each upstream has, by its ID. */
  readonly credentialCounts: ReadonlyMap<string, number>;
}

export function compileUpstreams(entries: readonly Entry<UpstreamEntry>[], context: CompileContext): CompiledUpstreams {
  const claim = createClaims(context);
  const byId = new Map<string, Upstream>();
  const credentialCounts = new Map<string, number>();
  for (const { path, value } of entries) {
    const isFirst = claim(value.id, [...path, 'id']);
    const family = findFamily(value.family, [...path, 'family'], context);
    const keys = readKeys(value, path, context);
    if (family === undefined) continue;
    const upstream = compileUpstream(value, family, keys, path, context);
    if (!isFirst) continue;
    byId.set(value.id, upstream);
    credentialCounts.set(value.id, keys.length);
  }
  return { byId, credentialCounts };
}

function findFamily(id: string, path: Path, context: CompileContext): Family | undefined {
  const { families, faults } = context;
  const family = families.find((one) => one.id === id);
  if (family === undefined) {
    const known = families.map((one) => one.id);
    const near = nearestName(id, known);
    const hint = near === undefined ? `; known are ${known.join(', ')}` : suggestion(near);
    faults.add(path, `unknown family ${quoted(context, path, id)}${hint}`);
  }
  return family;
}

function compileUpstream(
  entry: UpstreamEntry,
  family: Family,
  keys: readonly Key[],
  path: Path,
  context: CompileContext,
): Upstream {
  const { auth } = family;
  const address = toAddress(entry, family, path, context);
  checkNetworkSections(entry, family, address, path, context);
  const staticHeaders = toStaticHeaders(entry.headers, [...path, 'headers'], context);
  if (keys.length > 0) warnOfIdleKeys(keys.length, family, staticHeaders, path, context);
  const hidden = [...staticHeaders].filter(([name]) => holdsSecret(name)).map(([, value]) => secretIn(value));
  const spellings = new Set([...keys.map(({ secret }) => secret), ...hidden].flatMap(spellingsOf));
  return Object.freeze({
    id: entry.id,
    family,
    origin: address?.origin,
    pathPrefix: address?.pathPrefix ?? '',
    credentials: Object.freeze(toCredentials(entry.id, keys, auth, staticHeaders)),
    forwardHeaders: Object.freeze(
      toForwardHeaders(entry.forward_headers, staticHeaders, auth, [...path, 'forward_headers'], context),
    ),
    secrets: Object.freeze([...spellings].map((spelling) => Buffer.from(spelling))),
    timeouts: toTimeouts(entry.timeouts, [...path, 'timeouts'], context),
    limits: toLimits(entry, [...path, 'limits'], context),
    tls: entry.tls && toUpstreamTls(entry.tls, [...path, 'tls'], context),
    healthCheck: entry.health_check && toHealthCheck(entry.health_check, [...path, 'health_check'], context),
    offers: toOffers(entry, family, path, context),
  });
}

function warnOfIdleKeys(
  keyCount: number,
  { id, auth }: Family,
  staticHeaders: ReadonlyMap<string, string>,
  path: Path,
  { warnings }: CompileContext,
): void {
  const subject = keyCount === 1 ? 'its key has' : 'its keys have';
  if (auth === undefined) {
    warnings.push(`${toPathText(path)}: ${subject} no effect, as family ${id} takes none`);
  } else if (staticHeaders.has(auth.header)) {
    warnings.push(`${toPathText(path)}: ${subject} no effect, as headers sets ${auth.header}`);
  }
}

/** What is set for connections, where there are none, or none of the kind. */
function checkNetworkSections(
  entry: UpstreamEntry,
  family: Family,
  address: Address | undefined,
  path: Path,
  { faults }: CompileContext,
): void {
  if (isMadeHere(family)) {
    for (const section of ['tls', 'health_check'] as const) {
      if (entry[section] !== undefined)
        faults.add([...path, section], `family ${family.id} needs no network; leave this out`);
    }
  } else if (entry.tls !== undefined && address?.origin.startsWith('http:')) {
    faults.add(
      [...path, 'tls'],
      'base_url begins with http://, so no TLS is spoken; write https://, or leave this out',
    );
  }
}

interface Address {
  readonly origin: string;
  readonly pathPrefix: string;
}

function toAddress(entry: UpstreamEntry, family: Family, path: Path, context: CompileContext): Address | undefined {
  const at = [...path, 'base_url'];
  const written = entry.base_url ?? family.baseUrl;
  if (written === undefined) {
    if (!isMadeHere(family)) context.faults.add(at, `is missing; family ${family.id} has no address of its own`);
    return undefined;
  }
  if (!/^https?:\/\/[^/\\\s][^\\\s]*$/i.test(written)) {
    context.faults.add(at, 'wanted: a URL that begins with http:// or https:// and a host');
    return undefined;
  }
  const url = URL.parse(written);
  if (url === null) {
    context.faults.add(at, 'is not a valid URL');
    return undefined;
  }
  if (url.username !== '' || url.password !== '')
    context.faults.add(at, 'holds a user name or a password; put the key in api_key');
  if (/[?#]/.test(written)) context.faults.add(at, 'holds a query or a fragment; end it with the path');
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

/** Whether its answers are made in this process, without a network. */
function isMadeHere(family: Family): boolean {
  return Object.values(family.offers).some((offers) => Object.values(offers).some((offer) => offer.make !== undefined));
}

function toOffers(
  entry: UpstreamEntry,
  family: Family,
  path: Path,
  { faults }: CompileContext,
): ReadonlyMap<string, Offer> {
  const native = entry.legacy_engines === 'native';
  const offers = new Map<string, Offer>();
  for (const label of labels) {
    for (const operation of operations) {
      const offer = family.offers[label]?.[operation];
      if (offer === undefined || (offer.onlyWhen === 'legacy_engines' && !native)) continue;
      offers.set(offerKey(label, operation), offer);
    }
  }
  if (native && family.offers.engines === undefined) {
    faults.add([...path, 'legacy_engines'], `family ${family.id} does not speak the legacy path; leave this out`);
  }
  return offers;
}
