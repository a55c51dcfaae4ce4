/** Defines the `upstream_addresses` section, and checks an upstream's address before anything connects to it. */

import { isIP } from 'node:net';
import type { Auth, Family, Offers } from '../../../core/family.ts';
import { labels } from '../../../core/label.ts';
import { operations } from '../../../core/operations/index.ts';
import type { EndpointSettings } from '../../../core/snapshot.ts';
import type { AddressRule } from '../../../lib/addresses/address-rule.ts';
import { isSocketUrl, toSocketOrigin, toSocketUrl } from '../../../lib/addresses/socket-origin.ts';
import type { Location } from '../context.ts';
import { addressList, mapping } from '../fields.ts';
import { type UpstreamEntry, wantedEndpoint } from './schema.ts';

export const upstreamAddressesSchema = mapping({
  allow: addressList().default([]).describe('Additional ranges, such as `100.64.0.0/10`.'),
  deny: addressList().default([]).describe('Refused ranges; they win.'),
});

const bareHost = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** The fault of an address that is an IP; a host name is checked when a connection is made. */
export function literalFault(rule: AddressRule | undefined, { hostname }: Pick<URL, 'hostname'>): string | undefined {
  const address = bareHost({ hostname });
  if (rule === undefined || isIP(address) === 0 || rule.permits(address)) return undefined;
  return `leads to ${address}, which is not allowed for upstreams of the store; write another address, or have the operator admit it with upstream_addresses.allow in the configuration file`;
}

interface Found {
  readonly family: Family;
  readonly offers: Offers;
  readonly standard: string | undefined;
  readonly written: string | undefined;
}

/** Routes that people copy into a base URL from example pages, in addition to those that the gateway has. */
const wellKnownRoutes = [
  '/chat/completions',
  '/responses',
  '/messages',
  '/completions',
  '/embeddings',
  '/rerank',
  '/moderations',
];
const versionAtEnd = /\/v\d+[a-z0-9]*$/i;

export function addressWarnings({ family, offers, standard, written }: Found): string[] {
  const found = written === undefined ? undefined : split(written);
  if (found === undefined) return [];
  const { origin } = found;
  const path = found.path.replace(/\/+$/, '');
  const paths = labels.flatMap((label) => operations.flatMap((operation) => offers[label]?.[operation]?.path ?? []));
  const routes = [...paths.filter((one) => !one.includes('{')), ...wellKnownRoutes];
  const [route] = routes.filter((one) => path.endsWith(one)).toSorted((a, b) => b.length - a.length);
  if (route !== undefined) {
    const base = path.slice(0, -route.length);
    return [
      `ends in a route; calls go to ${path}${paths[0] ?? '/embeddings'} and the like: write it without ${route}, as ${origin}${base}`,
    ];
  }
  const isVersioned = versionAtEnd.test(URL.parse(standard ?? '')?.pathname ?? '');
  // Two slashes at the end mark it as intended.
  if (isVersioned && !/\/v\d/i.test(path) && written?.endsWith('//') !== true) {
    return [`has no version path; services of family ${family.id} mostly want one at its end, as ${origin}${path}/v1`];
  }
  return [];
}

function split(written: string): { readonly origin: string; readonly path: string } | undefined {
  if (isSocketUrl(written)) {
    const { socket, path } = toSocketUrl(written);
    return { origin: toSocketOrigin(socket), path };
  }
  const url = URL.parse(written);
  return url === null ? undefined : { origin: url.origin, path: url.pathname };
}

/** Whether an upstream lacks a credential that it needs, as the service's own address always does. */
export function lacksCredential(
  { standard, written, family }: Omit<Found, 'offers'>,
  auth: Auth | undefined,
  keyCount: number,
  headers: ReadonlyMap<string, string>,
): boolean {
  if (keyCount > 0 || headers.has(auth?.header ?? 'authorization')) return false;
  if (auth === undefined && family.signer === undefined) return false;
  const own = URL.parse(standard ?? '');
  if (own === null || own.protocol !== 'https:') return false;
  return written === undefined || URL.parse(written)?.host === own.host;
}

export function toEndpoints(
  { endpoints: from, endpoint_zone: zone }: UpstreamEntry,
  origin: string | undefined,
  rule: AddressRule | undefined,
  location: Location,
): EndpointSettings | undefined {
  const url = origin === undefined || isSocketUrl(origin) ? undefined : new URL(origin);
  const isName = url !== undefined && isIP(bareHost(url)) === 0 && url.hostname !== 'localhost';
  if (from === 'off' || url === undefined) {
    if (from !== undefined && from !== 'off' && origin !== undefined)
      location.fault('base_url names a socket, which has no other address; leave this out');
    return undefined;
  }
  if (from === undefined) return isName ? Object.freeze({ from: 'private dns', zone }) : undefined;
  if (typeof from === 'string') {
    if (!isName) location.fault('base_url has no name to look up; write a name there, or a list of addresses here');
    return Object.freeze({ from, zone });
  }
  for (const [index, written] of from.entries()) {
    const url = URL.parse(`http://${written}`);
    const refusal = url === null ? `wanted: ${wantedEndpoint}` : literalFault(rule, url);
    if (refusal !== undefined) location.at(index).fault(refusal);
  }
  return Object.freeze({ from: Object.freeze([...new Set(from)]), zone });
}
