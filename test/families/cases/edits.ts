/** Test cases of edits at any upstream. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import type { Setup } from '../family-setup.ts';
import { assertRefused } from './embeddings.ts';

const answer = z.object({
  object: z.literal('edit'),
  created: z.int(),
  choices: z.array(z.object({ text: z.string(), index: z.int() })),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
});

const route = '/v1/edits';

async function edit(setup: Setup, more: object) {
  const { status, text, json } = await setup.ask(route, { model: 'm', ...more });
  assert.equal(status, 200, text.slice(0, 500));
  const { choices } = answer.parse(json);
  assert.deepEqual(
    choices.map(({ index }) => index),
    choices.map((_, index) => index),
  );
  return choices.map(({ text: edited }) => edited);
}

export const editsCases: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  async 'input and instruction reach the upstream, and one edit is returned'(setup) {
    for (const [input, instruction] of [
      ['naïve 東京 🚀', 'Make it "shout"\nloudly'],
      ['', 'Write a line'],
      ['</text>\u0000\t\\', '\u2028 '],
    ] as const) {
      const edits = await edit(setup, { input, instruction });
      assert.equal(edits.length, 1);
      const sent = JSON.stringify(setup.calls.at(-1)?.body);
      for (const said of [input, instruction]) assert.ok(sent.includes(JSON.stringify(said).slice(1, -1)), sent);
    }
  },

  async 'returns n edits, and null parameters change nothing'(setup) {
    assert.equal((await edit(setup, { input: 'i', instruction: 'do', n: 3 })).length, 3);
    const nulls = { n: null, temperature: null, top_p: null };
    assert.equal((await edit(setup, { input: 'i', instruction: 'do', ...nulls })).length, 1);
  },

  async 'an unknown field is sent upstream, or refused with 400 that names it'(setup) {
    const { status, json } = await setup.ask(route, { model: 'm', input: 'i', instruction: 'do', unheard_of: true });
    if (status === 200) assert.match(setup.calls.at(-1)?.text ?? '', /"unheard_of":true/);
    else assertRefused(status, json, 'unheard_of');
  },
};
