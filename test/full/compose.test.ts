/**
 * deploy/compose.yaml, run as it is written: each service's command, environment, mounts, user and health check, in a network namespace
 * of its own. Images are not to be had here: programs of Debian stand for them, and what has none is listed as not shown.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { askConstantly } from '../support/clients/constant-load.ts';
import { composeUp } from '../support/compose/compose.ts';
import { readCompose } from '../support/compose/compose-file.ts';
import { missingPrograms } from '../support/compose/images.ts';
import { until } from '../support/time/until.ts';

const file = fileURLToPath(new URL('../../deploy/compose.yaml', import.meta.url));
const missing = missingPrograms();
/** Where CI is set it is never left out: it fails there. */
const whyNot =
  process.env.CI !== 'true' && (missing.length > 0 || process.getuid?.() !== 0)
    ? `needs root and ${missing.join(', ') || 'nothing else'}`
    : false;

const targets = z.object({
  data: z.object({
    activeTargets: z.array(
      z.object({ labels: z.object({ job: z.string(), instance: z.string() }), health: z.string() }),
    ),
  }),
});

const sums = z.object({ data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }) });

const body = JSON.stringify({ model: 'local/hash-embed', input: 'x' });

test('the Docker Compose file serves, loses no request when a node stops, and is monitored', {
  skip: whyNot,
  timeout: 600_000,
}, async (t) => {
  const composed = await composeUp(t, file);
  t.diagnostic(`not shown, as nothing here stands for its image: ${composed.notShown.join(', ')}`);
  assert.deepEqual(composed.notShown, ['grafana']);
  const proxy = composed.published(4000);
  const [, key = ''] = /(pst_[0-9A-Za-z]+)/.exec(composed.container('node-1').output()) ?? [];
  const post = (headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${proxy}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body,
    });

  const ask = async (query: string): Promise<string | undefined> => {
    const answer = await fetch(`${composed.published(9090)}/api/v1/query?query=${encodeURIComponent(query)}`);
    return sums.parse(await answer.json()).data.result[0]?.value[1];
  };

  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const answer = await post({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  assert.equal(answer.status, 200, await answer.text());
  await until(
    async () =>
      (await readFile(join(composed.volume('traces'), 'traces.json'), 'utf8').catch(() => '')).includes(traceId),
    { what: 'the trace reaches the collector', everyMs: 250 },
  );
  await until(
    async () => {
      const listed = await (await fetch(`${composed.published(9090)}/api/v1/targets`)).json();
      const up = targets.parse(listed).data.activeTargets.filter(({ health }) => health === 'up');
      const seen = up.map(({ labels }) => labels.instance).toSorted();
      return seen.join() === 'node-1:4001,node-2:4001,proxy:8405';
    },
    { what: 'Prometheus has both nodes and the proxy', everyMs: 250 },
  );
  await until(
    async () => {
      const [ups, away] = await Promise.all(['sum(postern_store_up)', 'sum(postern_redis_fallback)'].map(ask));
      return ups === '2' && away === '0';
    },
    { what: 'both nodes count in Redis, and have the store', everyMs: 250 },
  );

  for (const node of ['node-1', 'node-2']) {
    const load = askConstantly(post);
    await wait(500);
    assert.equal(await composed.container(node).stop(), 0, composed.container(node).output());
    await wait(500);
    await load.stop();
    assert.deepEqual(load.failures, [], `with ${node} stopped`);
    assert.ok(load.answered > 10);
    await composed.start(node);
    await until(
      async () => {
        await post();
        return servedBy(composed.container(node).output());
      },
      { what: `${node} is asked again`, everyMs: 250 },
    );
  }
});

test('an unknown key in the Docker Compose file is a fault', async () => {
  const text = await readFile(file, 'utf8');
  assert.throws(() => readCompose(text.replace('    hostname: node-1\n', '    privileged: true\n')), /privileged/);
  assert.throws(() => readCompose(`${text}\nnetworks: {}\n`), /a section is not known/);
});

/** Whether it wrote down a request. */
const servedBy = (log: string): boolean => log.includes('"msg":"request"');
