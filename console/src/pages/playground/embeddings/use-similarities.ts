/** How alike all texts are to all others, computed in turns, so that the page stays alive with many long vectors. */

import { useEffect, useState } from 'react';
import type { Embedded } from './embedded.ts';
import { compareAll } from './vectors.ts';

const turnMs = 8;

function createPause(): () => Promise<void> {
  let startedMs = performance.now();
  return async () => {
    if (performance.now() - startedMs < turnMs) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    startedMs = performance.now();
  };
}

export interface Similarities {
  readonly of: Embedded;
  readonly rows: readonly (readonly number[])[];
}

/** Undefined until they are known. */
export function useSimilarities(embedded: Embedded): Similarities | undefined {
  const [found, setFound] = useState<Similarities>();
  useEffect(() => {
    const leaving = new AbortController();
    compareAll(embedded.vectors, createPause(), leaving.signal).then(
      (rows) => setFound({ of: embedded, rows }),
      () => undefined, // wanted no more
    );
    return () => leaving.abort();
  }, [embedded]);
  return found?.of === embedded ? found : undefined;
}
