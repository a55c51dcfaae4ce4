/** Compiles the `upstreams` section: resolves addresses, reads credentials, and prepares the headers of calls. */

import {
  type Auth,
  type Family,
  isMadeHere,
  type Offer,
  type Offers,
  type Options,
  offersOf,
  type Signer,
  withOptions,
} from '../../../core/family.ts';
import type { Credential, Upstream } from '../../../core/snapshot.ts';
import type { AddressRule } from '../../../lib/addresses/address-rule.ts';
import {
  isSocketPath,
  isSocketUrl,
  longestSocketPath,
  toSocketOrigin,
  toSocketUrl,
} from '../../../lib/addresses/socket-origin.ts';
import { toCaps } from '../caps.ts';
import { type CompileContext, createClaims, type Entry, Location, managerOf } from '../context.ts';
import { ReusableStep } from '../reuse.ts';
import { addressWarnings, lacksCredential, literalFault, toEndpoints } from './addresses.ts';
import { type Key, readKeys, toCredentials } from './credentials.ts';
import { toForwardHeaders, toResponseHeaders, toStaticHeaders } from './header-rules.ts';
import { toFamilyOptions, toHealthCheck, toLimits, toOfferMap, toScreening, toTimeouts } from './parts.ts';
import type { UpstreamEntry } from './schema.ts';
import { toSettings } from './settings.ts';
import { toUpstreamTls } from './tls.ts';

export interface CompiledUpstreams {
  readonly byId: ReadonlyMap<string, Upstream>;
  readonly credentialCounts: ReadonlyMap<string, number>;
}

interface NewUpstream {
  readonly entry: UpstreamEntry;
  readonly family: Family;
  readonly keys: readonly Key[];
  readonly addresses: AddressRule | undefined;
  readonly location: Location;
}

/** An upstream with its options applied to its family's facts. */
interface Optioned extends NewUpstream {
  readonly options: Options;
  readonly auth: Auth | undefined;
  readonly offers: Offers;
  readonly standard: string | undefined;
}

/** Compiles all upstreams. `rule`: the address policy for those of the store. */
export function* compileUpstreams(
  entries: readonly Entry<UpstreamEntry>[],
  rule: AddressRule,
  context: CompileContext,
): Generator<undefined, CompiledUpstreams, undefined> {
  const compileEach = () => compilingEach(entries, rule, context);
  if (entries.some(({ value }) => readsFiles(value))) return yield* compileEach();
  return yield* compilingAll.steps(entries, [context.families, rule.id], context, compileEach);
}

const compilingAll = new ReusableStep<CompiledUpstreams>();

function* compilingEach(
  entries: readonly Entry<UpstreamEntry>[],
  rule: AddressRule,
  context: CompileContext,
): Generator<undefined, CompiledUpstreams, undefined> {
  const claim = createClaims();
  const byId = new Map<string, Upstream>();
  const credentialCounts = new Map<string, number>();
  const inputs = [context.families, rule.id];
  for (const entry of entries) {
    if (compiling.isPauseDue()) yield;
    const { path, value } = entry;
    const location = new Location(context, path);
    const isFirst = claim(value.id, location, 'id');
    const made = compiling.of(readsFiles(value) ? undefined : entry, inputs, context, () => {
      const family = findFamily(value.family, location.at('family'));
      const keys = readKeys(value, family?.credential, location);
      if (family === undefined) return undefined;
      // An upstream of the file may be anywhere, because the operator wrote it.
      const addresses = managerOf(path) === 'store' ? rule : undefined;
      return { upstream: compileUpstream({ entry: value, family, keys, addresses, location }), keyCount: keys.length };
    });
    if (!isFirst || made === undefined) continue;
    byId.set(value.id, made.upstream);
    credentialCounts.set(value.id, made.keyCount);
  }
  return { byId, credentialCounts };
}

const compiling = new ReusableStep<{ readonly upstream: Upstream; readonly keyCount: number } | undefined>();

/** Whether an upstream reads files, whose contents may differ at each load, so that its result cannot be remembered. */
const readsFiles = ({ api_key_file: file, credentials = [], tls }: UpstreamEntry): boolean =>
  file !== undefined || tls !== undefined || credentials.some((one) => one.api_key_file !== undefined);

function findFamily(id: string, location: Location): Family | undefined {
  const { families } = location.context;
  const family = families.find((one) => one.id === id);
  if (family === undefined) {
    const known = families.map((one) => one.id);
    location.unknown('unknown family', id, known, `; known are ${known.join(', ')}`);
  }
  return family;
}

function compileUpstream(made: NewUpstream): Upstream {
  const { entry, family, keys, addresses, location } = made;
  const options = toFamilyOptions(entry, family, location.at('options'));
  const auth = typeof family.auth === 'function' ? family.auth(options) : family.auth;
  const offers = offersOf(family, options);
  const standard = family.addressFor?.(options) ?? (family.baseUrl && withOptions(family.baseUrl, options));
  const optioned: Optioned = { ...made, options, auth, offers, standard };
  const address = toAddress(optioned);
  checkNetworkSections(optioned, address);
  const own = toStaticHeaders(entry.headers, location.at('headers'));
  const forwarded = (family.forwards ?? []).filter((name) => !own.has(name));
  const standing = Object.entries(family.headers ?? {});
  const staticHeaders = new Map([...standing.filter(([name]) => !forwarded.includes(name)), ...own]);
  const toSigner = toSignerMaker(family, options);
  const credentialsFor = (header: Auth | undefined): Upstream['credentials'] =>
    Object.freeze(toCredentials(entry.id, keys, header, staticHeaders, toSigner));
  const credentials = credentialsFor(auth);
  const chatCredentials = family.chatAuth && credentialsFor(family.chatAuth);
  const found = { family, offers, standard, written: entry.base_url };
  for (const text of addressWarnings(found)) location.at('base_url').warn(` ${text}`);
  if (lacksCredential(found, auth, keys.length, staticHeaders)) {
    location.warn(` has no credential, and ${family.title} serves nobody without one; set api_key`);
  }
  if (keys.length > 0) warnOfIdleKeys(optioned, staticHeaders);
  return Object.freeze({
    id: entry.id,
    family,
    origin: address?.origin,
    pathPrefix: address?.pathPrefix ?? '',
    credentials: chatCredentials === undefined ? credentials : withChatHeaders(credentials, chatCredentials),
    ...(chatCredentials && { chatCredentials }),
    forwardHeaders: Object.freeze([
      ...new Set([
        ...forwarded,
        ...toForwardHeaders(entry.forward_headers, staticHeaders, auth, location.at('forward_headers')),
      ]),
    ]),
    standardHeaders: Object.fromEntries(standing.filter(([name]) => forwarded.includes(name))),
    responseHeaders:
      entry.response_headers && toResponseHeaders(entry.response_headers, location.at('response_headers')),
    ...toScreening(entry, keys, staticHeaders, location),
    timeouts: toTimeouts(entry.timeouts, location.at('timeouts')),
    paceMs: entry.pace,
    limits: toLimits(entry, location.at('limits')),
    // Connections bound the number of calls in flight.
    caps: toCaps({ ...entry, limits: { ...entry.limits, concurrency: undefined } }, location),
    tls: entry.tls && toUpstreamTls(entry.tls, location.at('tls')),
    addresses,
    healthCheck: entry.health_check && toHealthCheck(entry.health_check, location.at('health_check')),
    endpoints: toEndpoints(entry, address?.origin, addresses, location.at('endpoints')),
    options,
    filesPath: toPath(family.files, options),
    batchesPath: toPath(family.batches, options),
    ...toSettings(entry),
    offers: toOffers(optioned),
  });
}

function toPath(said: Family['files'], options: Options): string | undefined {
  const path = typeof said === 'function' ? said(options) : said;
  return path && withOptions(path, options);
}

/** The credentials with the headers in which the family's chat API expects the same keys. */
function withChatHeaders(own: Upstream['credentials'], chat: Upstream['credentials']): Upstream['credentials'] {
  const toBoth = (credential: Credential, index: number): Credential =>
    Object.freeze({ ...credential, chatHeaders: (chat[index] ?? chat[0]).headers });
  const [first, ...others] = own;
  return Object.freeze([toBoth(first, 0), ...others.map((one, index) => toBoth(one, index + 1))] as const);
}

function warnOfIdleKeys(
  { keys, family: { id, signer }, auth, location }: Optioned,
  staticHeaders: ReadonlyMap<string, string>,
): void {
  const subject = keys.length === 1 ? 'its key has' : 'its keys have';
  const header = auth?.header ?? (signer && 'authorization');
  if (header === undefined) location.warn(`: ${subject} no effect, as family ${id} takes none`);
  else if (staticHeaders.has(header)) location.warn(`: ${subject} no effect, as headers sets ${header}`);
}

/** Reports connection settings that have no effect on an upstream of this kind. */
function checkNetworkSections({ entry, family, offers, location }: Optioned, address: Address | undefined): void {
  if (isMadeHere(offers)) {
    for (const section of ['tls', 'health_check'] as const) {
      if (entry[section] !== undefined)
        location.at(section).fault(`family ${family.id} needs no network; leave this out`);
    }
  } else if (entry.tls !== undefined && address?.origin.startsWith('http:')) {
    location.at('tls').fault('base_url begins with http://, so no TLS is spoken; write https://, or leave this out');
  } else if (entry.tls !== undefined && address !== undefined && isSocketUrl(address.origin)) {
    location.at('tls').fault('base_url names a socket, where no TLS is spoken; leave this out');
  }
}

interface Address {
  readonly origin: string;
  readonly pathPrefix: string;
}

function toAddress({ entry, family, offers, standard, addresses, location }: Optioned): Address | undefined {
  const at = location.at('base_url');
  const written = entry.base_url ?? standard;
  if (written === undefined) {
    if (!isMadeHere(offers)) at.fault(`is missing; family ${family.id} has no address of its own`);
    return undefined;
  }
  // The family's own address is valid, unless one of its options is faulty.
  const report = (problem: string): void => {
    if (entry.base_url !== undefined) at.fault(problem);
  };
  if (isSocketUrl(written)) return toSocketAddress(written, family, addresses, report);
  if (!/^https?:\/\/[^/\\\s][^\\\s]*$/i.test(written)) {
    report('wanted: a URL that begins with http:// or https:// and a host, or unix: and the path of a socket');
    return undefined;
  }
  const url = URL.parse(written);
  if (url === null) {
    report('is not a valid URL');
    return undefined;
  }
  if (/^https?:\/\/https?:/i.test(written)) {
    report('begins with http:// or https:// twice; write it once');
    return undefined;
  }
  if (url.username !== '' || url.password !== '') report('holds a user name or a password; put the key in api_key');
  if (/[?#]/.test(written)) report('holds a query or a fragment; end it with the path');
  const refusal = literalFault(addresses, url);
  if (refusal !== undefined) report(refusal);
  return { origin: url.origin, pathPrefix: withoutVersion(url.pathname.replace(/\/+$/, ''), family) };
}

function toSocketAddress(
  written: string,
  family: Family,
  addresses: AddressRule | undefined,
  report: (problem: string) => void,
): Address | undefined {
  if (addresses !== undefined) {
    report('names a socket of the machine that the gateway runs on; that is for upstreams of the configuration file');
    return undefined;
  }
  const { socket, path } = toSocketUrl(written);
  if (!isSocketPath(socket)) {
    report(
      `wanted: unix:, the whole path of a socket (${longestSocketPath} bytes at most), and the path of the API behind a colon, such as unix:/run/vllm.sock:/v1`,
    );
    return undefined;
  }
  if (/[?#\\\s]/.test(path)) report('holds a query, a fragment or a space behind the socket; end it with the path');
  return { origin: toSocketOrigin(socket), pathPrefix: withoutVersion(path.replace(/\/+$/, ''), family) };
}

/** The base URL's path without an end that the offers' paths begin with, as many providers' pages show it. */
function withoutVersion(prefix: string, { versions = [] }: Family): string {
  for (const version of versions) {
    const ends = version.split('{model}').map((text) => RegExp.escape(text));
    const at = prefix.search(new RegExp(`${ends.join('[^/]+')}$`));
    if (at !== -1) return prefix.slice(0, at);
  }
  return prefix;
}

function toOffers({ entry, family, offers, options, location }: Optioned): ReadonlyMap<string, Offer> {
  const native = entry.legacy_engines === 'native';
  if (native && offers.engines === undefined) {
    location.at('legacy_engines').fault(`family ${family.id} has no legacy /v1/engines path; leave this out`);
  }
  return toOfferMap(offers, options, ({ onlyWhen }) => onlyWhen !== 'legacy_engines' || native);
}

/** Makes a key's signer, for families that sign calls; reports a key that it cannot use without repeating it. */
function toSignerMaker({ signer }: Family, options: Options): ((key: Key) => Signer | undefined) | undefined {
  if (signer === undefined) return undefined;
  return ({ secret, location }) => {
    const made = signer(secret, options);
    if (typeof made !== 'string') return made;
    location.fault(made);
    return undefined;
  };
}
