/** The `upstreams` section as the pipeline uses it: addresses resolved, credentials read, headers ready to send. */

import type { Family, Offer } from '../core/family.ts';
import { labels, operations } from '../core/operation.ts';
import { offerKey, type Upstream } from '../core/snapshot.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type CompileContext, createClaims, quoted } from './context.ts';
import type { Entry } from './document.ts';
import { type Path, suggestion, toPathText } from './faults.ts';
import { toForwardHeaders, toStaticHeaders } from './header-rules.ts';
import type { UpstreamEntry } from './schema.ts';
import { holdsSecret, secretIn, spellingsOf } from './secret-spellings.ts';
import { toTimeouts } from './timeouts.ts';

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
    const credentials = readCredentials(value, path, context);
    if (family === undefined) continue;
    const upstream = compileUpstream(value, family, credentials, path, context);
    if (!isFirst) continue;
    byId.set(value.id, upstream);
    credentialCounts.set(value.id, credentials.length);
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
  credentials: readonly string[],
  path: Path,
  context: CompileContext,
): Upstream {
  const { auth } = family;
  const address = toAddress(entry, family, path, context);
  const [credential] = credentials;
  const staticHeaders = toStaticHeaders(entry.headers, [...path, 'headers'], context);
  const headers = new Map(staticHeaders);
  if (credential !== undefined && auth !== undefined && !headers.has(auth.header)) {
    headers.set(auth.header, auth.prefix + credential);
  }
  if (auth === undefined && credentials.length > 0) {
    context.warnings.push(`${toPathText(path)}: its key has no effect, as family ${family.id} takes none`);
  }
  const hidden = [...staticHeaders].filter(([name]) => holdsSecret(name)).map(([, value]) => secretIn(value));
  const spellings = new Set([...credentials, ...hidden].flatMap(spellingsOf));
  return Object.freeze({
    id: entry.id,
    family,
    origin: address?.origin,
    pathPrefix: address?.pathPrefix ?? '',
    fixedHeaders: Object.freeze([...headers].flat()),
    forwardHeaders: Object.freeze(
      toForwardHeaders(entry.forward_headers, headers, auth, [...path, 'forward_headers'], context),
    ),
    secrets: Object.freeze([...spellings].map((spelling) => Buffer.from(spelling))),
    timeouts: toTimeouts(entry.timeouts, [...path, 'timeouts'], context),
    offers: toOffers(entry, family, path, context),
  });
}

/** In the order of the file; those at fault are left out. */
function readCredentials(entry: UpstreamEntry, path: Path, context: CompileContext): string[] {
  const own = entry.api_key !== undefined || entry.api_key_file !== undefined;
  if (own && entry.credentials !== undefined) {
    context.faults.add([...path, 'credentials'], 'stands beside api_key or api_key_file; keep one of them');
  }
  const keys = own ? [readKey(entry, path, context)] : [];
  for (const [index, credential] of (entry.credentials ?? []).entries()) {
    const at = [...path, 'credentials', index];
    if (credential.api_key === undefined && credential.api_key_file === undefined) {
      context.faults.add(at, 'has no key; add api_key or api_key_file');
    } else {
      keys.push(readKey(credential, at, context));
    }
  }
  return keys.filter((key) => key !== undefined);
}

function readKey(
  { api_key: key, api_key_file: file }: Pick<UpstreamEntry, 'api_key' | 'api_key_file'>,
  path: Path,
  { faults, sideFiles }: CompileContext,
): string | undefined {
  if (key !== undefined && file !== undefined) {
    faults.add([...path, 'api_key_file'], 'stands beside api_key; keep one of the two');
  }
  if (file === undefined) return key;
  const content = sideFiles.content(file);
  if ('reason' in content) {
    faults.add([...path, 'api_key_file'], `the file cannot be used: ${content.reason}`);
    return undefined;
  }
  const text = content.text.trim();
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  faults.add(
    [...path, 'api_key_file'],
    text === '' ? 'the file is empty' : 'the file holds something other than one key',
  );
  return undefined;
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
