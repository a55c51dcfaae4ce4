/** Reads the admin listener of a gateway process. */

import assert from 'node:assert/strict';
import { type Exposition, parseExposition } from '../clients/exposition.ts';
import type { GatewayProcess } from './gateway-process.ts';

/** As printed once it is ready. */
export function consoleUrl(gateway: GatewayProcess): string {
  const url = gateway.log().find(({ msg }) => msg === 'listening')?.console;
  assert.ok(typeof url === 'string', 'there is no admin listener');
  return url;
}

export async function readMetrics(gateway: GatewayProcess): Promise<Exposition> {
  const response = await fetch(`${consoleUrl(gateway)}/metrics`, { headers: { connection: 'close' } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return parseExposition(await response.text());
}
