/** A body names one model. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  '/v1/completions': { prompt: 'hi' },
  '/v1/responses': { input: 'hi', store: false },
};

for (const [path, body] of Object.entries(bodies)) {
  test(`at ${path} no other models than the one that is judged can be named`, async (t) => {
    const up = await startFakeUpstream((_request, reply) => reply.json(200, { object: 'x', choices: [] }));
    t.after(() => up.close());
    const rig = await startRig(t, {
      upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-up' }],
      models: [{ id: 'm', operations: ['chat', 'completions', 'responses'], targets: [{ upstream: 'up' }] }],
      keys: [{ id: 'test', secret: testKey, models: ['m'] }],
    });
    for (const [name, value] of [
      ['models', ['dear/other']],
      ['fallbacks', [{ model: 'dear/other' }]],
      ['Models', ['dear/other']],
    ] as const) {
      const refused = await rig.post(path, { model: 'm', ...body, [name]: value });
      assertError(refused, 'unsupported_parameter', { param: name.toLowerCase() });
    }
    assert.equal(up.requests.length, 0);
    assert.equal((await rig.post(path, { model: 'm', ...body, models: null })).status, 200);
  });
}
