/** Resolves the endpoints of an upstream repeatedly: by DNS name, SRV records, or a fixed list. */

import { promises as dns, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { EndpointSettings } from '../../core/snapshot.ts';
import { includesAddress, toBlockList } from '../../lib/addresses/address-range.ts';
import { type Repeated, repeat } from '../../lib/repeat.ts';

export interface EndpointAddress {
  /** An IP address, or a name from the operator's list. */
  readonly host: string;
  /** The port; undefined: that of `base_url`. */
  readonly port?: number | undefined;
}

export interface LookUpDeps {
  readonly lookup?: LookupFunction | undefined;
  readonly resolveSrv?: ((name: string) => Promise<readonly SrvRecord[]>) | undefined;
  readonly everyMs?: number | undefined;
}

interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
}

const standardEveryMs = 10_000;
/** Shortest time between two look-ups that unreachable addresses trigger. */
const leastBetweenMs = 1_000;

/** Private ranges: several addresses there are replicas of one's own server; elsewhere they are usually entrances of one service. */
const privateRanges = toBlockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
]);

export class EndpointLookUp {
  readonly #from: EndpointSettings['from'];
  readonly #url: URL;
  readonly #deps: LookUpDeps;
  readonly #onFound: (addresses: readonly EndpointAddress[]) => void;
  /** The repeated look-ups; undefined for a fixed list. */
  readonly #looks: Repeated | undefined;
  #isOver = false;
  #lookedAtMs = 0;

  /** `onFound` receives the addresses of every successful look-up. */
  constructor(
    { from }: EndpointSettings,
    origin: string,
    deps: LookUpDeps,
    onFound: (addresses: readonly EndpointAddress[]) => void,
  ) {
    this.#from = from;
    this.#url = new URL(origin);
    this.#deps = deps;
    this.#onFound = onFound;
    if (typeof from === 'string') this.#looks = repeat(() => this.#look(), deps.everyMs ?? standardEveryMs, 0);
    else onFound(from.map(toAddress));
  }

  /** Looks up the addresses soon. To be called when one did not answer: the list may have changed. */
  hurry(): void {
    if (this.#looks?.isRunning === false && performance.now() - this.#lookedAtMs >= leastBetweenMs) this.#looks.now();
  }

  stop(): void {
    this.#isOver = true;
    void this.#looks?.close();
  }

  async #look(): Promise<void> {
    this.#lookedAtMs = performance.now();
    // A failed look-up leaves the known endpoints.
    const found = await this.#find().catch(() => []);
    if (this.#isOver) return;
    const isPublic = this.#from === 'private dns' && found.some(({ host }) => !includesAddress(privateRanges, host));
    // Connections resolve a public name themselves.
    if (isPublic) return;
    if (found.length > 0) this.#onFound(found);
  }

  async #find(): Promise<readonly EndpointAddress[]> {
    const { hostname, protocol } = this.#url;
    if (this.#from !== 'srv') return (await this.#addressesOf(hostname)).map((host) => ({ host }));
    const resolve = this.#deps.resolveSrv ?? ((name: string) => dns.resolveSrv(name));
    const records = await resolve(`_${protocol.slice(0, -1)}._tcp.${hostname}`);
    const priority = Math.min(...records.map((record) => record.priority));
    const first = records.filter((record) => record.priority === priority);
    const all = await Promise.all(
      first.map(async ({ name, port }) => (await this.#addressesOf(name)).map((host) => ({ host, port }))),
    );
    return all.flat();
  }

  /** The addresses of a name, of one family (IPv4 or IPv6) only, as both lead to the same endpoints. */
  #addressesOf(hostname: string): Promise<string[]> {
    const lookup = this.#deps.lookup ?? systemLookup;
    return new Promise((resolve, reject) => {
      lookup(hostname, { all: true }, (error, found) => {
        if (error !== null) {
          reject(error);
          return;
        }
        const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address);
        const family = isIP(addresses[0] ?? '');
        resolve([...new Set(addresses.filter((address) => isIP(address) === family))]);
      });
    });
  }
}

/** Parses `host`, `host:port` or `[address]:port`, which was validated with the configuration. */
export function toAddress(written: string): EndpointAddress {
  const [, bracketed, plain = '', port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(written) ?? [];
  return { host: bracketed ?? plain, port: port === undefined ? undefined : Number(port) };
}
