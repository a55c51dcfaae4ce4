/** Preloaded into a test run (`--import`): changes one span of one source file in memory, as `POSTERN_MUTANT` defines it. */

import { registerHooks } from 'node:module';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The changed span and its replacement: a path from the root, and UTF-16 offsets. */
export interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

if (env.POSTERN_MUTANT !== undefined) install(JSON.parse(env.POSTERN_MUTANT) as Mutant);

function install({ file, start, end, text }: Mutant): void {
  const url = new URL(`../${file}`, import.meta.url).href;
  registerHooks({
    load(wanted, context, next) {
      const loaded = next(wanted, context);
      if (wanted !== url) return loaded;
      if (loaded.source == null) throw new Error(`${fileURLToPath(url)} has no source`);
      const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: source.slice(0, start) + text + source.slice(end) };
    },
  });
}
