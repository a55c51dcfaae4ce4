/** Compiles settings of an upstream besides its address and credentials: timeouts, limits, health checks, screening, options and paths. */

import {
  type Family,
  type Offer,
  type Offers,
  type Options,
  standardOptions,
  withOptions,
} from '../../../core/family.ts';
import { labels } from '../../../core/label.ts';
import { byOperation, type Operation, operationRows, operations } from '../../../core/operations/index.ts';
import {
  type HealthCheck,
  offerKey,
  type Timeouts,
  type Upstream,
  type UpstreamLimits,
} from '../../../core/snapshot.ts';
import { nearHint } from '../../../lib/nearest-name.ts';
import { fromMilliseconds } from '../../../lib/quantities.ts';
import { shortestSecretBytes, whyNotInSuccesses } from '../../../lib/secrets/secret-spellings.ts';
import { toPathText } from '../../read/faults.ts';
import type { Location } from '../context.ts';
import type { Key } from './credentials.ts';
import type { UpstreamEntry } from './schema.ts';

const standardTimeouts: Timeouts = Object.freeze({
  connectMs: 2000,
  firstByteMs: 60_000,
  idleMs: 60_000,
  totalMs: 300_000,
});

/** The timeouts by operation; a configured value applies to every operation. */
export function toTimeouts(
  section: UpstreamEntry['timeouts'],
  location: Location,
): Readonly<Record<Operation, Timeouts>> {
  const shortest = shortestTotal(section);
  checkWithinTotal(section.connect, shortest, location.at('connect'));
  checkWithinTotal(section.first_byte, shortest, location.at('first_byte'));
  if (section.idle !== undefined && section.idle > shortest.ms) {
    const idle = fromMilliseconds(section.idle);
    location.at('idle').warn(`: ${idle} has no effect, as total (${shortest.spelled}) ends first`);
  }
  return byOperation((operation) => timeoutsOf(operation, section));
}

/** The timeouts of one operation. Defaults are shortened to its total time; a configured value above that is a fault. */
function timeoutsOf(operation: Operation, section: UpstreamEntry['timeouts']): Timeouts {
  const defaults = { ...standardTimeouts, ...operationRows[operation].patience };
  const totalMs = section.total ?? defaults.totalMs;
  return Object.freeze({
    connectMs: section.connect ?? Math.min(defaults.connectMs, totalMs),
    firstByteMs: section.first_byte ?? Math.min(defaults.firstByteMs, totalMs),
    idleMs: section.idle ?? Math.min(defaults.idleMs, totalMs),
    totalMs,
  });
}

interface ShortestTotal {
  readonly ms: number;
  /** The time for messages, such as `5m, the default`. */
  readonly spelled: string;
}

function shortestTotal(section: UpstreamEntry['timeouts']): ShortestTotal {
  const ms = Math.min(...operations.map((operation) => timeoutsOf(operation, section).totalMs));
  return { ms, spelled: `${fromMilliseconds(ms)}${section.total === undefined ? ', the default' : ''}` };
}

function checkWithinTotal(ms: number | undefined, total: ShortestTotal, location: Location): void {
  if (ms === undefined || ms <= total.ms) return;
  location.fault(`${fromMilliseconds(ms)} is longer than total (${total.spelled}); raise total, or lower this`);
}

const standardQueueTimeoutMs = 5000;
const standardMostCalls = 256;
const standardFewestCalls = 2;

export function toLimits(
  { limits, timeouts }: Pick<UpstreamEntry, 'limits' | 'timeouts'>,
  location: Location,
): UpstreamLimits {
  const total = shortestTotal(timeouts);
  checkWithinTotal(limits.queue_timeout, total, location.at('queue_timeout'));
  return Object.freeze({
    ...toConcurrency(limits, location),
    queue: limits.queue,
    bulkShare: limits.bulk_share.percent / 100,
    queueTimeoutMs: limits.queue_timeout ?? Math.min(standardQueueTimeoutMs, total.ms),
  });
}

function toConcurrency(
  { concurrency, min_concurrency, max_concurrency }: UpstreamEntry['limits'],
  location: Location,
): Pick<UpstreamLimits, 'concurrency' | 'auto'> {
  if (concurrency !== 'auto') {
    for (const [name, value] of Object.entries({ min_concurrency, max_concurrency }))
      if (value !== undefined) location.at(name).fault('is for concurrency: auto; leave it out');
    return { concurrency };
  }
  const max = max_concurrency ?? standardMostCalls;
  const min = min_concurrency ?? Math.min(standardFewestCalls, max);
  if (min > max) location.at('min_concurrency').fault(`is more than max_concurrency (${max}); lower it, or raise that`);
  return { concurrency: max, auto: Object.freeze({ min }) };
}

const standardTimeoutMs = 2000;

export function toHealthCheck(section: NonNullable<UpstreamEntry['health_check']>, location: Location): HealthCheck {
  const { path, interval: intervalMs, timeout: timeoutMs = Math.min(standardTimeoutMs, intervalMs) } = section;
  if (timeoutMs > intervalMs) {
    location
      .at('timeout')
      .fault(
        `${fromMilliseconds(timeoutMs)} is longer than interval (${fromMilliseconds(intervalMs)}), so that checks would overlap; raise interval, or lower this`,
      );
  }
  return Object.freeze({ path, intervalMs, timeoutMs });
}

/** What responses of the upstream are searched for. `staticHeaders`: added headers, with names in lower case. */
export function toScreening(
  { screen }: UpstreamEntry,
  keys: readonly Key[],
  staticHeaders: ReadonlyMap<string, string>,
  { path }: Location,
): Pick<Upstream, 'secrets' | 'screen' | 'unscreened'> {
  const paths = new Map<string, string>();
  for (const { secret, location } of keys) paths.set(secret, toPathText(location.path.slice(path.length)));
  for (const [name, value] of staticHeaders) {
    if (holdsSecret(name)) paths.set(secretIn(value), `headers.${name}`);
  }
  const unscreened =
    screen === 'errors'
      ? []
      : [...paths].flatMap(([secret, secretPath]) => {
          const why = whyNotInSuccesses(secret);
          return why === undefined ? [] : [`${secretPath}: ${why}`];
        });
  return {
    secrets: Object.freeze([...paths.keys()].filter((secret) => Buffer.byteLength(secret) >= shortestSecretBytes)),
    screen,
    unscreened: Object.freeze(unscreened),
  };
}

function holdsSecret(headerName: string): boolean {
  return /auth|key|token|secret|cookie/i.test(headerName);
}

/** The secret part of a header's value, without a scheme such as `Bearer`. */
function secretIn(headerValue: string): string {
  const [, rest = ''] = /^[A-Za-z][A-Za-z0-9-]* +(.+)$/.exec(headerValue) ?? [];
  return Buffer.byteLength(rest) >= shortestSecretBytes ? rest : headerValue;
}

const plain = /^[A-Za-z0-9][A-Za-z0-9._~-]*$/;

/** The upstream's options for its family, validated by the family's declarations and completed by their defaults. */
export function toFamilyOptions(
  { options: written, base64 }: UpstreamEntry,
  family: Family,
  location: Location,
): Options {
  const { options: known = {} } = family;
  for (const [name, value] of Object.entries(written)) {
    const at = location.at(name);
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (option === undefined) {
      const names = Object.keys(known);
      const all = names.length === 0 ? `family ${family.id} has none` : `known are ${names.join(', ')}`;
      at.fault(`unknown option ${at.quoted(name)} of family ${family.id}${nearHint(name, names, `; ${all}`)}`);
    } else if (option.values !== undefined && !option.values.includes(value)) {
      at.fault(`wanted: one of ${option.values.join(', ')}`);
    } else if (option.values === undefined && !(option.pattern ?? plain).test(value)) {
      at.fault(`wanted: ${option.form ?? option.description.replace(/\.$/, '')}`);
    }
  }
  for (const [name, { required, description }] of Object.entries(known)) {
    if (required && written[name] === undefined) {
      location.at(name).fault(`is missing; family ${family.id} needs it: ${description}`);
    }
  }
  return Object.freeze({ ...standardOptions(family), ...written, base64 });
}

/** Offers of the enabled operations, with the option values in their paths. */
export function toOfferMap(
  offers: Offers,
  options: Options,
  isWanted: (offer: Offer) => boolean,
): ReadonlyMap<string, Offer> {
  const wanted = new Map<string, Offer>();
  for (const label of labels) {
    for (const operation of operations) {
      const offer = offers[label]?.[operation];
      if (offer === undefined || !isWanted(offer)) continue;
      wanted.set(offerKey(label, operation), Object.freeze({ ...offer, path: withOptions(offer.path, options) }));
    }
  }
  return wanted;
}
