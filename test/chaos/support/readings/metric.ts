/** Reads a running gateway's `/metrics`. */

import type { GatewayProcess } from '../../../support/gateways/gateway-process.ts';

/** The page as it came. */
export async function readMetrics(gateway: GatewayProcess, token?: string): Promise<string> {
  const base = gateway.log().find(({ msg }) => msg === 'listening')?.console;
  if (typeof base !== 'string') throw new Error('the gateway has no admin listener');
  const headers = {
    // The connection of this request must not be counted.
    connection: 'close',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(`${base}/metrics`, { headers, signal: AbortSignal.timeout(5_000) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/metrics answered with ${response.status}: ${text}`);
  return text;
}

/** The sum of all series of a name whose labels hold the text. */
export async function readMetric(gateway: GatewayProcess, name: string, label = '', token?: string): Promise<number> {
  const lines = (await readMetrics(gateway, token)).split('\n');
  return lines
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
