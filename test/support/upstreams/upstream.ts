/** An upstream as configured, for tests of connections. */

import { noCaps } from '../../../src/core/caps.ts';
import { byOperation } from '../../../src/core/operations/index.ts';
import type { Timeouts, Upstream } from '../../../src/core/snapshot.ts';

export interface UpstreamParts extends Partial<Upstream> {
  readonly connectMs?: number;
}

export function toUpstream(origin: string, { connectMs = 2_000, ...parts }: UpstreamParts = {}): Upstream {
  const timeouts: Timeouts = { connectMs, firstByteMs: 10_000, idleMs: 10_000, totalMs: 30_000 };
  return {
    id: 'up',
    family: { id: 'test', title: 'Test', offers: {} },
    origin,
    pathPrefix: '/v1',
    credentials: [{ id: 'key', weight: 1, headers: ['authorization', 'Bearer sk-test'], fingerprint: 'fingerprint' }],
    forwardHeaders: [],
    responseHeaders: undefined,
    secrets: [],
    screen: 'all',
    unscreened: [],
    timeouts: byOperation(() => timeouts),
    limits: { concurrency: 16, queue: 16, queueTimeoutMs: 1_000, bulkShare: 0.1 },
    caps: noCaps,
    tls: undefined,
    addresses: undefined,
    healthCheck: undefined,
    options: {},
    answerLimitBytes: 64 * 1024 * 1024,
    offers: new Map(),
    ...parts,
  };
}
