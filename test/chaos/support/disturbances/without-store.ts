/** Gateways with PostgreSQL unreachable: one started meanwhile, and those running before. */

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from '../../../support/gateways/gateway-process.ts';
import type { Figure } from '../../promise.ts';
import { none } from '../readings/findings.ts';

/** A store address without a listener. */
export async function startWithoutStore(directory: string): Promise<Figure[]> {
  const home = join(directory, 'alone');
  await mkdir(home);
  const startedMs = performance.now();
  const said = await startGatewayProcess({
    config: { store: 'postgres://postern:secret-of-the-store@127.0.0.1:9/postern' },
    directory: home,
    readyTimeoutMs: 60_000,
  }).then(
    async (gateway) => {
      await gateway.stop();
      return 'it serves';
    },
    (error: Error) => `${error.message}\n${error.cause instanceof Error ? error.cause.message : ''}`,
  );
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const faults: string[] = [];
  if (!said.includes('it ended with {"code":1,')) faults.push(`it did not exit with 1: ${said}`);
  if (!said.includes('Trying again')) faults.push(`it does not say that it waits: ${said}`);
  if (!said.includes('cannot be reached')) faults.push(`it does not say why: ${said}`);
  if (said.includes('secret-of-the-store')) faults.push('it tells the password');
  return [none('a start without PostgreSQL: waits, says so and exits with 1', faults, `after ${seconds} s`)];
}

export function checkAlive(nodes: readonly GatewayProcess[]): void {
  for (const { pid, stderr } of nodes) {
    // It stays in the list of processes only as long as it runs.
    if (!existsSync(`/proc/${pid}`)) throw new Error(`a node died: ${stderr().slice(-2_000)}`);
  }
}
