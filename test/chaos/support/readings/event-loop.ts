/** Measures the event-loop delay of a gateway process from inside. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { GatewayProcess } from '../../../support/gateways/gateway-process.ts';

interface EventLoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU time of the process's main thread, in all and in the longest turn, independent of other processes. */
  readonly cpuMs: number;
  readonly maxCpuMs: number;
}

export interface EventLoopMeter {
  /** What the gateway's process must be started with. */
  readonly env: Readonly<Record<string, string>>;
  /** The delay since the last reading, or since the start. */
  read(gateway: GatewayProcess): Promise<EventLoopDelay>;
}

const delaySchema = z.object({ p99Ms: z.number(), maxMs: z.number(), cpuMs: z.number(), maxCpuMs: z.number() });
const readTimeoutMs = 10_000;

export async function createEventLoopMeter(t: TestContext): Promise<EventLoopMeter> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-event-loop-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const file = join(directory, 'delays');
  let readings = 0;

  async function lines(): Promise<string[]> {
    // Not there before the first reading.
    const text = await readFile(file, 'utf8').catch(() => '');
    return text.split('\n').slice(0, -1);
  }

  return {
    env: {
      NODE_OPTIONS: `--import ${new URL('event-loop-probe.ts', import.meta.url).href} --disable-warning=ExperimentalWarning`,
      EVENT_LOOP_FILE: file,
    },
    async read(gateway) {
      gateway.signal('SIGUSR2');
      const deadlineMs = performance.now() + readTimeoutMs;
      for (;;) {
        const written = await lines();
        if (written.length > readings) {
          readings = written.length;
          return delaySchema.parse(JSON.parse(written.at(-1) ?? ''));
        }
        if (performance.now() > deadlineMs) throw new Error('the gateway does not tell its event-loop delay');
        await wait(5);
      }
    },
  };
}
