/** The section `metrics`: of whom it is counted beside models and upstreams. */

import type * as z from 'zod';
import type { MetricSettings } from '../../core/snapshot.ts';
import { is, list, mapping, ownId } from './fields.ts';

/** Each is five series more. */
const mostNamed = 1_000;
const named = (what: string) =>
  list(ownId(), `a list of IDs of ${what}`)
    .max(mostNamed, { error: `${mostNamed} at most` })
    .default([])
    .meta(
      is(`The ${what} of which requests, tokens and cost are counted, each under a label of its own.`, {
        kind: 'list of IDs',
      }),
    );

export const metricsSchema = mapping({ keys: named('keys'), projects: named('projects') });

export function toMetricSettings({ keys, projects }: z.output<typeof metricsSchema>): MetricSettings {
  return Object.freeze({ keys: new Set(keys), projects: new Set(projects) });
}
