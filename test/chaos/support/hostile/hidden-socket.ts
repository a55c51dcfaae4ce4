/** A service behind a Unix socket, and the ways an attacker might try to reach it. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Snapshot } from '../../../../src/core/snapshot.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { createOwnProbe } from '../../../../src/upstream/probes/probe.ts';
import { startRig } from '../../../support/gateways/rig.ts';
import { startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';

/** A service that only processes of this machine are meant to reach. */
export async function startHidden(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-hidden-'));
  const path = join(directory, 'hidden.sock');
  const service = await startFakeUpstream(undefined, { socketPath: path });
  t.after(async () => {
    await service.close();
    await rm(directory, { recursive: true });
  });
  return {
    path,
    url: service.url,
    connections: () => Array.from({ length: service.connections().accepted }, (_, index) => `connection ${index + 1}`),
    /** How many requests come through where the operator's own file names the socket. */
    async reachFromFile(): Promise<number> {
      const before = service.requests.length;
      const own = await startRig(t, {
        upstreams: [{ id: 'f', family: 'openai', base_url: service.url }],
        models: [{ id: 'f', operations: ['embeddings'], space: 's', targets: [{ upstream: 'f' }] }],
      });
      await own.post('/v1/embeddings', { model: 'f', input: 'x' });
      return service.requests.length - before;
    },
  };
}

/** The spellings that an attacker might try. */
export function socketSpellings(path: string): string[] {
  const schemes = ['unix:', 'unix://', 'UNIX:', 'http+unix:', 'http+unix://', 'http://unix:', 'file:', 'file://', ''];
  const encoded = encodeURIComponent(path);
  return schemes.flatMap((scheme) =>
    [path, `${path}:`, `${path}:/v1`, `/${path}:/v1`, `${encoded}/v1`, `${encoded}:/v1`].flatMap((rest) => {
      const written = scheme + rest;
      // What is a host to everybody is a name that is looked up.
      return /^http:\/\//.test(written) && URL.canParse(written) ? [] : [written];
    }),
  );
}

/** Tests of a connection and lists of models, of upstreams that are at a socket as if the configuration had not looked. */
export async function askSocket(t: TestContext, { upstreams }: Snapshot): Promise<string[]> {
  const probe = createOwnProbe({ proxyFor: () => undefined, clock: systemClock, installation: 'installation' });
  t.after(() => probe.close());
  const { signal } = new AbortController();
  const succeeded: string[] = [];
  for (const upstream of upstreams.values()) {
    if ((await probe.test(upstream, signal)).ok) succeeded.push(`test of a socket: ${upstream.id}`);
    if ((await probe.models(upstream, signal)).kind !== 'failed') succeeded.push(`list of a socket: ${upstream.id}`);
  }
  return succeeded;
}
