/** The output of `postern models` about the targets of a running gateway. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { answering, refusingWith } from '../support/gateways/several.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

test('postern models shows healthy targets and cooldowns with reasons, and nothing after the gateway ended', async (t) => {
  const upstreams = await Promise.all([startFakeUpstream(refusingWith(500)), startFakeUpstream(answering('b'))]);
  t.after(() => Promise.all(upstreams.map((upstream) => upstream.close())));
  const gateway = await startGatewayProcess({
    config: {
      upstreams: upstreams.map(({ url }, i) => ({
        id: `up-${i}`,
        family: 'openai',
        base_url: url,
        api_key: `sk-${i}-key-of-theirs`,
      })),
      models: [
        {
          id: 'm',
          operations: ['embeddings'],
          targets: [
            { upstream: 'up-0', priority: 0 },
            { upstream: 'up-1', priority: 1 },
          ],
        },
      ],
    },
  });
  t.after(() => gateway.stop());
  const show = async (): Promise<string> => {
    const { stdout, code } = await runPostern(['models', '--config', gateway.configFile], { cwd: gateway.directory });
    assert.equal(code, 0);
    return stdout;
  };
  assert.match(await show(), /up-0: m +healthy\n +up-1: m +healthy/);

  for (let i = 0; i < 6; i += 1) {
    const answer = await request({
      port: gateway.port,
      path: '/v1/embeddings',
      headers: [['authorization', `Bearer ${gateway.key}`]],
      // What fails for one body alone may be that body's fault.
      body: { model: 'm', input: `x${i}` },
    });
    assert.equal(answer.status, 200);
  }
  const findCooldown = () => gateway.log().find(({ msg }) => msg === 'target in cooldown');
  for (let tries = 0; tries < 50 && findCooldown() === undefined; tries += 1) await wait(100);
  const inCooldown = findCooldown();
  assert.deepEqual([inCooldown?.upstream, inCooldown?.model, inCooldown?.why], ['up-0', 'm', 'answered 500']);

  let shown = '';
  for (let tries = 0; tries < 20 && !/up-0: m +(in cooldown \d+ s|probing) \(answered 500\)/.test(shown); tries += 1) {
    shown = await show();
    await wait(100);
  }
  assert.match(shown, /up-0: m +(in cooldown \d+ s|probing) \(answered 500\)\n +up-1: m +healthy/);

  gateway.signal('SIGTERM');
  await gateway.exited;
  assert.match(await show(), /up-0: m +unknown\n +up-1: m +unknown[\s\S]*No gateway with this store is running/);
});
