/** WebSockets are not relayed: realtime and responses report that. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

test('a WebSocket upgrade is refused by name, without a call', async (t) => {
  const up = await startFakeUpstream((_request, reply) => reply.json(200, {}));
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' }],
    models: [{ id: 'm', targets: [{ upstream: 'up' }] }],
  });
  const headers = [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', 'x3JJHMbDL1EzLkh9GBhXDw=='],
    ['Authorization', `Bearer ${testKey}`],
  ] as const;
  const upgrade = await rig.get('/v1/realtime?model=m', { headers });
  assertError(upgrade, 'operation_not_supported', { message: /^Realtime is not served/ });
  assertError(await rig.post('/v1/realtime/client_secrets', {}), 'operation_not_supported', {
    message: /^Realtime is not served/,
  });
  for (const path of ['/v1/responses', '/responses', '/openai/v1/responses', '/v1/responses?model=m']) {
    assertError(await rig.get(path, { headers }), 'operation_not_supported', {
      message: /^Responses over a WebSocket are not served: .*POST to \/v1\/responses/,
    });
  }
  assertError(await rig.get('/v1/responses'), 'method_not_allowed');
  // If nothing can be upgraded, the header has no effect.
  assert.equal((await rig.get('/v1/models', { headers })).status, 200);
  assert.equal(up.requests.length, 0);
});
