/** Which requests are traced: a share of them, and no more of those whose clients want them traced. */

import type { OtelSettings } from '../../core/snapshot.ts';

/** What may be traced at once of what the share left over. */
const mostSaved = 100;

interface Candidate {
  /** What the client's flag says; undefined where it said nothing. */
  readonly wanted: boolean | undefined;
  readonly keyId: string | undefined;
}

export class Sampler {
  readonly #random: () => number;
  /** How many requests whose clients want them traced may be. */
  #saved = 1;

  constructor(random: () => number) {
    this.#random = random;
  }

  isTraced({ wanted, keyId }: Candidate, { sample, keys }: { sample: number; keys: OtelSettings['keys'] }): boolean {
    if (wanted === undefined) return this.#random() < sample;
    this.#saved = Math.min(this.#saved + sample, mostSaved);
    if (!wanted) return false;
    if (keyId !== undefined && keys.has(keyId)) return true;
    // Sums of shares come to a little less than they should.
    if (this.#saved < 1 - 1e-9 || sample === 0) return false;
    this.#saved -= 1;
    return true;
  }
}
