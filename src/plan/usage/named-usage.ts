/** Reads usage from response fields that the operator named in the configuration, for upstreams with an unusual format. */

import type { Buffer } from 'node:buffer';
import type { Usage } from '../../core/accounting/usage.ts';
import type { OwnUsage } from '../../core/custom-route.ts';
import { JsonPicker, type Picked } from '../../lib/json/json-picker.ts';
import type { UsageObserver } from './usage.ts';

/** Reads a whole, uncompressed JSON answer; the usage of any other answer is unknown. */
export class NamedUsageObserver implements UsageObserver {
  readonly #names: OwnUsage;
  readonly #picker: JsonPicker;
  readonly #found = new Map<string, number>();

  constructor(names: OwnUsage) {
    this.#names = names;
    const paths = [names.input, names.output, names.units].filter((path) => path !== undefined);
    this.#picker = new JsonPicker(paths, 'numbers');
  }

  push(chunk: Buffer): void {
    const picked: Picked[] = [];
    this.#picker.push(chunk, picked);
    for (const { path, text } of picked) {
      const count = Number(text);
      if (Number.isFinite(count) && count >= 0) this.#found.set(path, Math.ceil(count));
    }
  }

  finish(): Usage | null {
    const countAt = (path: string | undefined): number | null =>
      path === undefined ? null : (this.#found.get(path) ?? null);
    const { input, output, units } = this.#names;
    if (this.#found.size === 0) return null;
    return {
      promptTokens: countAt(input),
      completionTokens: countAt(output),
      totalTokens: null,
      searchUnits: countAt(units),
    };
  }

  decodedLength(): undefined {
    return undefined;
  }

  written(): undefined {
    return undefined;
  }

  pictures(): undefined {
    return undefined;
  }
}
