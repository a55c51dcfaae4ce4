/** Chooses the proxy for an origin from HTTPS_PROXY, http_proxy and NO_PROXY. */

import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { includesAddress, isLoopback, toAddressRange, toBlockList } from '../../lib/addresses/address-range.ts';
import { isSocketUrl } from '../../lib/addresses/socket-origin.ts';

export interface ProxyAddress {
  /** Whether the connection to the proxy itself uses TLS. */
  readonly secure: boolean;
  /** The proxy's name, or its address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`, from the URL's user; must not be logged. */
  readonly authorization: string | undefined;
}

export type ProxyRule = (origin: string) => ProxyAddress | undefined;

interface Exemption {
  /** The port; undefined: any. */
  readonly port: number | undefined;
  covers(hostname: string): boolean;
}

const defaultPorts = new Map([
  ['http:', 80],
  ['https:', 443],
]);

/**
 * An empty variable counts as one that is not set. Where curl and Go disagree: the lower-case name wins and white space separates too, as in curl;
 * `.example.com` excludes `example.com` itself, entries may name a port, and `localhost` and loopback addresses never use a proxy, whatever the
 * variables are, as in Go. For `http://` origins only the lower-case name counts, as in both: in a CGI program HTTP_PROXY is a client's `Proxy`
 * header.
 */
export function createProxyRule(env: Readonly<Record<string, string | undefined>>): ProxyRule {
  const proxies = new Map([
    ['https:', readProxy(env, 'https_proxy', 'HTTPS_PROXY')],
    ['http:', readProxy(env, 'http_proxy')],
  ]);
  const exemptions = (env.no_proxy || env.NO_PROXY || '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(toExemption);

  return (origin) => {
    // No proxy leads to a Unix socket.
    if (isSocketUrl(origin)) return undefined;
    const url = new URL(origin);
    const proxy = proxies.get(url.protocol);
    if (proxy === undefined) return undefined;
    const hostname = toBareHost(url.hostname);
    const port = url.port === '' ? defaultPorts.get(url.protocol) : Number(url.port);
    const direct =
      hostname === 'localhost' ||
      isLoopback(hostname) ||
      exemptions.some((entry) => (entry.port ?? port) === port && entry.covers(hostname));
    return direct ? undefined : proxy;
  };
}

function readProxy(env: Readonly<Record<string, string | undefined>>, ...names: string[]): ProxyAddress | undefined {
  const name = names.find((each) => env[each]);
  const text = name === undefined ? undefined : env[name];
  if (name === undefined || text === undefined) return undefined;
  // Messages omit the text: it may hold a password.
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null) {
    throw new Error(
      `${name} in the environment is not the URL of a proxy; write http://host:port or https://host:port.`,
    );
  }
  const defaultPort = defaultPorts.get(url.protocol);
  if (defaultPort === undefined) {
    throw new Error(
      `${name} in the environment names a proxy that speaks no HTTP; only http:// and https:// proxies can be used.`,
    );
  }
  return {
    secure: url.protocol === 'https:',
    hostname: toBareHost(url.hostname),
    port: url.port === '' ? defaultPort : Number(url.port),
    authorization: toAuthorization(url, name),
  };
}

function toAuthorization({ username, password }: URL, name: string): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const credential = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(credential).toString('base64')}`;
  } catch {
    throw new Error(`The user or password in ${name} holds a % that encodes nothing; write a plain % as %25.`);
  }
}

function toExemption(entry: string): Exemption {
  if (entry === '*') return { port: undefined, covers: () => true };
  if (toAddressRange(entry) !== undefined) return coversAddresses(entry, undefined);
  const [, text = '', digits] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  const host = toBareHost(text);
  if (isIP(host) !== 0) return coversAddresses(host, port);
  const wanted = host.startsWith('*.') ? host.slice(1) : host;
  const name = domainToASCII(wanted.replace(/^\./, ''));
  if (name === '') return { port, covers: () => false };
  const exact = !wanted.startsWith('.');
  const suffix = `.${name}`;
  return { port, covers: (hostname) => hostname.endsWith(suffix) || (exact && hostname === name) };
}

function coversAddresses(range: string, port: number | undefined): Exemption {
  const list = toBlockList([range]);
  return { port, covers: (hostname) => includesAddress(list, hostname) };
}

function toBareHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
