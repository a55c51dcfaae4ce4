/** The access log of a gateway process, looked up by the ID that each client gave its request. */

import type { GatewayProcess } from '../../../support/gateways/gateway-process.ts';

/** A line, as docs and operators know it. */
export type AccessLine = Readonly<Record<string, unknown>>;

export interface AccessLog {
  readonly lines: readonly AccessLine[];
  /** All lines of one request; there must be one. */
  of(clientRequestId: string): readonly AccessLine[];
  /** All lines of one exchange, by the gateway's own ID, which is the one that goes upstream. */
  ofExchange(id: string): readonly AccessLine[];
}

/** Ends the gateway first, so that everything is written. */
export async function readAccessLog(gateway: GatewayProcess): Promise<AccessLog & { readonly crashed: boolean }> {
  const { code, signal } = await gateway.stop();
  const lines = gateway.log().filter(({ msg }) => msg === 'request');
  const byClientId = Map.groupBy(lines, (line) => String(line.client_request_id));
  const byId = Map.groupBy(lines, (line) => String(line.id));
  return {
    lines,
    of: (id) => byClientId.get(id) ?? [],
    ofExchange: (id) => byId.get(id) ?? [],
    crashed: code !== 0 || signal !== null,
  };
}
