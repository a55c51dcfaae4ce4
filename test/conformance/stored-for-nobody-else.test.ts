/** Whatever keys ask, and however they spell it: no ID reaches an upstream but by a key of the project that it was made for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../chaos/support/random.ts';
import { type Client, secrets, startStoredObjectsSetup } from '../support/gateways/stored-objects-setup.ts';

const owners: Readonly<Record<Client, string>> = {
  one: 'one',
  sibling: 'one',
  two: 'two',
  loner: 'loner',
  other: 'other',
};
const everybody = Object.keys(secrets) as Client[];
const steps = 400;

/** As JSON strings: plain, one character escaped, all escaped. */
const spellings: readonly ((id: string) => string)[] = [
  (id) => JSON.stringify(id),
  (id) => `"\\u00${id.charCodeAt(0).toString(16)}${id.slice(1)}"`,
  (id) => `"${[...id].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')}"`,
];

const bodies: readonly ((id: string, other: string) => string)[] = [
  (id) => `{"model":"m","input":"x","previous_response_id":${id}}`,
  (id) => `{"model":"m","input":"x","previous\\u005fresponse_id":${id}}`,
  (id) => `{"model":"m","input":"x","Previous_response_id":${id}}`,
  (id, other) => `{"model":"m","input":"x","previous_response_id":${id},"previous_response_id":${other}}`,
  (id) => `{"model":"m","input":[{"type":"item_reference","id":${id}}]}`,
  (id, other) => `{"model":"m","input":[{"type":"item_reference","id":${other},"\\u0069d":${id}}]}`,
  (id) => `{"model":"m","input":[{"id":${id}}]}`,
  (id) => `{"model":"m","input":[{"type":"reasoning","id":${id},"summary":[]}]}`,
  (id) => `{"model":"m","input":[{"type":"message","role":"user","content":"x","id":${id}}]}`,
  (id, other) => `{"model":"m","input":[{"id":${other}},{"type":"item\\u005freference","id":${id}}]}`,
  (id) => `{"model":"both","input":[{"type":"image_generation_call","id":${id}}]}`,
];

const paths: readonly ((id: string, other: string) => readonly [method: string, path: string])[] = [
  (id) => ['GET', `/v1/responses/${id}`],
  (id) => ['GET', `/v1/responses/${id}/`],
  (id) => ['GET', `/openai/v1/responses/${id}?stream=true`],
  (id) => ['POST', `/responses/${id}/cancel`],
  (id) => ['GET', `/v1/responses/${id}/input_items?limit=1`],
  (id, other) => ['GET', `/v1/responses/${other}/input_items?after=${id}`],
  (id) => ['GET', `/v1/responses/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`],
];

test('an ID reaches an upstream only with a key of its project', async (t) => {
  const { up, far, ask, make } = await startStoredObjectsSetup(t);
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = createRandom(seed);
  t.diagnostic(`seed ${seed}`);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] ?? assert.fail();
  const ownerOf = new Map<string, string>();
  const made: string[] = ['resp_never', 'msg_never'];
  let passed = 0;

  for (let step = 0; step < steps; step += 1) {
    const client = pick(everybody);
    if (step % 8 === 0) {
      const id = await make(client, random() < 0.5 ? {} : { model: 'away' });
      for (const kind of ['resp', 'msg', 'rs']) ownerOf.set(id.replace('resp', kind), owners[client]);
      made.push(...[...ownerOf.keys()].slice(-3));
      continue;
    }
    const before = [up.requests.length, far.requests.length] as const;
    // Often one that may pass, so that many do, whatever the seed.
    const own = made.filter((one) => ownerOf.get(one) === owners[client]);
    const id = random() < 0.5 && own.length > 0 ? pick(own) : pick(made);
    const [other, spell] = [pick(made), pick(spellings)];
    if (random() < 0.6) await ask(client, 'POST', '/v1/responses', pick(bodies)(spell(id), spell(other)));
    else await ask(client, ...pick(paths)(id, other));
    for (const { path, body } of [...up.requests.slice(before[0]), ...far.requests.slice(before[1])]) {
      passed += 1;
      const said = unescaped(`${path} ${body.toString()}`);
      for (const [seen] of said.matchAll(/\b(?:resp|msg|rs)_(?:far)?\d+\b/g)) {
        assert.equal(ownerOf.get(seen), owners[client], `${client} reached ${seen} with ${said} (seed ${seed})`);
      }
    }
  }
  assert.ok(passed > 10, `${passed} requests passed`);
});

const unescaped = (text: string): string =>
  decodeURIComponent(
    text.replaceAll(/\\u00([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
