/** Where the time of a call went: in the gateway, at the upstream, and on the way to this page. */

import type { Answer } from './call.ts';

export interface Span {
  readonly name: 'upstream' | 'gateway' | 'rest';
  readonly title: string;
  readonly ms: number;
}

/** `gateway;dur=1.2, upstream;dur=30` by name. */
export function parseServerTiming(text: string): ReadonlyMap<string, number> {
  const spans = new Map<string, number>();
  for (const entry of text.split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='))?.slice('dur='.length);
    const ms = Number(duration);
    if (name !== '' && duration !== undefined && Number.isFinite(ms)) spans.set(name, ms);
  }
  return spans;
}

/** Empty where the gateway does not say. */
export function toSpans({ headers, totalMs }: Pick<Answer, 'headers' | 'totalMs'>): Span[] {
  const said = parseServerTiming(headers['server-timing'] ?? '');
  const gatewayMs = said.get('gateway');
  if (gatewayMs === undefined) return [];
  const upstreamMs = said.get('upstream') ?? 0;
  const spans: Span[] = [
    { name: 'gateway', title: 'Gateway', ms: gatewayMs },
    { name: 'upstream', title: 'Upstream', ms: upstreamMs },
    { name: 'rest', title: 'Reading, and the way to this page', ms: Math.max(0, totalMs - gatewayMs - upstreamMs) },
  ];
  return spans;
}
