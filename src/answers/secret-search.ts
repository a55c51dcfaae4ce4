/** Compiles searches for an upstream's credentials, once per credential, for use in its responses. */

import { Buffer } from 'node:buffer';
import { setImmediate as nextSlice } from 'node:timers/promises';
import type { TargetLease } from '../core/dispatch.ts';
import type { Credential } from '../core/snapshot.ts';
import { oneSliceBytes } from '../lib/json/json-scan.ts';
import { NeedleSearch } from '../lib/secrets/needle-search.ts';
import { shortestSecretBytes, spellingsInErrors, spellingsInSuccesses } from '../lib/secrets/secret-spellings.ts';
import { layersOf } from '../lib/secrets/unescape.ts';

/** Searches for one credential. Each is compiled when first needed: most upstreams never answer with an error. */
export class SecretSearch {
  /** Values that a signer derived from its secret; a different array whenever there are new ones. */
  readonly made: readonly string[] | undefined;
  readonly #secrets: readonly string[];
  #inErrors: NeedleSearch | undefined = undefined;
  #inSuccesses: NeedleSearch | undefined = undefined;

  constructor(secrets: readonly string[], made?: readonly string[]) {
    this.made = made;
    const long = made?.filter((secret) => Buffer.byteLength(secret) >= shortestSecretBytes) ?? [];
    this.#secrets = [...secrets, ...long];
  }

  get inErrors(): NeedleSearch {
    this.#inErrors ??= new NeedleSearch(this.#secrets.flatMap(spellingsInErrors));
    return this.#inErrors;
  }

  get inSuccesses(): NeedleSearch {
    this.#inSuccesses ??= new NeedleSearch(this.#secrets.flatMap(spellingsInSuccesses));
    return this.#inSuccesses;
  }
}

const searches = new WeakMap<Credential, SecretSearch>();

/** The search for the upstream's credentials, and for the values that a signer derived from one of them for this call. */
export function searchFor({ candidate, credential }: TargetLease): SecretSearch {
  const made = credential.signer?.secrets?.();
  let search = searches.get(credential);
  if (search === undefined || search.made !== made) {
    search = new SecretSearch(candidate.target.upstream.secrets, made);
    searches.set(credential, search);
  }
  return search;
}

export function repeats(text: Buffer, needles: NeedleSearch): boolean {
  for (const layer of layersOf(text)) if (needles.find(layer) !== -1) return true;
  return false;
}

/** Whether a text contains a secret, as `repeats`, but with pauses in which other requests are served. */
export async function repeatsSliced(text: Buffer, needles: NeedleSearch): Promise<boolean> {
  for (const layer of layersOf(text)) {
    if (needles.find(layer) !== -1) return true;
    if (layer.length > oneSliceBytes) await nextSlice();
  }
  return false;
}

export function toLatin1(fields: readonly string[]): Buffer {
  return Buffer.from(fields.join('\n'), 'latin1');
}
