/** Tests an upstream from the gateway's own position, with its proxies and token requests. */

import type { Probe } from '../../core/probe.ts';
import type { Clock } from '../../lib/clock.ts';
import { createProxyRule, type ProxyRule } from '../connections/proxy-rule.ts';
import { createSmallPost } from '../small-post.ts';
import { createProbe } from './probe.ts';

interface OwnProbeDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly installation: string;
}

export function createOwnProbe({ env, clock, installation }: OwnProbeDeps): Probe & { close(): Promise<void> } {
  // Invalid proxy variables fail a start; here they fail the test.
  let rule: ProxyRule | undefined;
  const proxyFor: ProxyRule = (origin) => {
    rule ??= createProxyRule(env);
    return rule(origin);
  };
  const smallPost = createSmallPost(proxyFor);
  const probe = createProbe({ proxyFor, signing: { nowMs: clock.nowMs, post: smallPost.post }, installation });
  return { ...probe, close: () => smallPost.close() };
}
