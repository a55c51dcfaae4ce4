/** Names that a client finds for a pattern: each is a name and nothing more at every family, or it is unknown. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMadeHere, offersOf, standardOptions } from '../../src/core/family.ts';
import { bodyOf, operationRows, pathOf } from '../../src/core/operations/index.ts';
import { families } from '../../src/families/index.ts';
import { openSetup } from '../families/family-setup.ts';
import type { FamilyFixture } from '../families/fixture.ts';
import { offeredIn } from '../families/offered.ts';
import { startRig } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** What stands behind `az/`. */
const hostile = [
  '',
  '.',
  '..',
  '../admin',
  'team-/../gpt-prod',
  'team-/../../../admin',
  'team-/./x',
  'team-//x',
  'team-x/',
  'team-x/..',
  'team-..%2f..%2fadmin',
  'team-%2e%2e',
  'team-x?api-version=1',
  'team-x#y',
  'team-x\\..\\y',
  'team-x\u0000',
  'team-x\r\nX-Admin: 1',
  'team-\u0085',
  'team-\ud800',
  'team-*',
];

const overTheWire = families.filter((family) => !isMadeHere(offersOf(family, standardOptions(family))));

for (const family of overTheWire) {
  test(`family ${family.id}: a path-like model name is unknown in body and path, and is never sent`, async (t) => {
    const { default: fixture }: { default: FamilyFixture } = await import(`../families/${family.id}.ts`);
    const offered = offeredIn(offersOf(family, standardOptions(family)));
    const setup = await openSetup(t, fixture, {
      model: { id: 'az/*', operations: offered, targets: [{ upstream: 'up', model: '*' }] },
    });
    for (const name of hostile.map((text) => `az/${text}`)) {
      for (const operation of offered) {
        // Forms and paths have no way to write halves of characters.
        const { form, path, trial } = operationRows[operation];
        const isInBody = form === undefined && !path.includes('{model}');
        if (!isInBody && !name.isWellFormed()) continue;
        const answer = await setup.ask(pathOf(operation, name), bodyOf(operation, name, trial));
        if (path.includes('{model}')) assert.equal(answer.status, 404, `${operation} ${JSON.stringify(name)}`);
        else assert.match(answer.text, /"code":"model_not_found"/, `${operation} ${JSON.stringify(name)}`);
      }
      if (!offered.includes('embeddings') || !name.isWellFormed()) continue;
      const answer = await setup.ask(`/v1/engines/${encodeURIComponent(name)}/embeddings`, {
        input: 'x',
      });
      assert.equal(answer.status, 404, name);
    }
    assert.deepEqual(setup.calls, []);

    const [operation = 'embeddings'] = offered;
    const honest = `az/${fixture.models?.[operation] ?? fixture.model}`;
    await setup.ask(pathOf(operation, honest), bodyOf(operation, honest, operationRows[operation].trial));
    assert.notEqual(setup.calls.length, 0, 'an honest name is asked for');
  });
}

test("a key's model list is matched against the requested name, or an alias's model, without normalising paths", async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const secret = 'a-key-of-the-team-0123456789';
  const rig = await startRig(t, {
    // Without it both refusals are the same 404.
    server: { reveal_models: true },
    upstreams: [{ id: 'up', family: 'azure', base_url: upstream.url, api_key: 'sk-0123456789' }],
    models: [
      { id: 'az/*', operations: ['embeddings'], targets: [{ upstream: 'up', model: '*' }] },
      {
        id: 'named',
        aliases: ['az/team-alias'],
        operations: ['embeddings'],
        space: 's',
        targets: [{ upstream: 'up', model: 'gpt-prod' }],
      },
    ],
    keys: [{ id: 'team', secret, models: ['az/team-*'] }],
  });
  const more = { headers: [['Authorization', `Bearer ${secret}`]] } as const;
  const statusOf = async (model: string) => (await rig.post('/v1/embeddings', { model, input: 'x' }, more)).status;
  assert.equal(await statusOf('az/team-/../gpt-prod'), 404);
  assert.equal(await statusOf('az/gpt-prod'), 403);
  assert.equal(await statusOf('AZ/team-a'), 404);
  // An alias is judged by the model that it stands for.
  assert.equal(await statusOf('az/team-alias'), 403);
  assert.equal((await rig.get('/v1/models/az/team-%252e', more)).status, 404);
  assert.equal((await rig.get('/v1/models/az/team-%2e%2e', more)).status, 200);
  assert.equal((await rig.get('/v1/models/az/team-/%2e%2e/b', more)).status, 404);
  assert.deepEqual(upstream.requests, []);
  assert.equal(await statusOf('az/team-a'), 200);
});
