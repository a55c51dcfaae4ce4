/** Which credentials of an upstream's entry no answer may repeat, and in which headers they stand. */

import type { Upstream } from '../../../core/snapshot.ts';
import { shortestSecretBytes, whyNotInSuccesses } from '../../../lib/secrets/secret-spellings.ts';
import { type Path, toPathText } from '../../read/faults.ts';
import type { Key } from './credentials.ts';
import type { UpstreamEntry } from './schema.ts';

/** `staticHeaders`: names in lower case. */
export function toScreening(
  { screen }: UpstreamEntry,
  keys: readonly Key[],
  staticHeaders: ReadonlyMap<string, string>,
  path: Path,
): Pick<Upstream, 'secrets' | 'screen' | 'unscreened'> {
  const places = new Map<string, string>();
  for (const { secret, path: keyPath } of keys) places.set(secret, toPathText(keyPath.slice(path.length)));
  for (const [name, value] of staticHeaders) {
    if (holdsSecret(name)) places.set(secretIn(value), `headers.${name}`);
  }
  const unscreened =
    screen === 'errors'
      ? []
      : [...places].flatMap(([secret, place]) => {
          const why = whyNotInSuccesses(secret);
          return why === undefined ? [] : [`${place}: ${why}`];
        });
  return {
    secrets: Object.freeze([...places.keys()].filter((secret) => Buffer.byteLength(secret) >= shortestSecretBytes)),
    screen,
    unscreened: Object.freeze(unscreened),
  };
}

function holdsSecret(headerName: string): boolean {
  return /auth|key|token|secret|cookie/i.test(headerName);
}

/** The part of a header's value that is worth hiding: without its scheme, where it has one. */
function secretIn(headerValue: string): string {
  const [, rest = ''] = /^[A-Za-z][A-Za-z0-9-]* +(.+)$/.exec(headerValue) ?? [];
  return Buffer.byteLength(rest) >= shortestSecretBytes ? rest : headerValue;
}
