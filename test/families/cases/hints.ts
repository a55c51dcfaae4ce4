/** Test cases of optional hints of other services on every route: served, or dropped and reported. */

import assert from 'node:assert/strict';
import type { Setup } from '../family-setup.ts';

const hints = {
  user: 'u-1',
  safety_identifier: 'u-1',
  metadata: { a: 'b' },
  service_tier: 'auto',
  drop_params: true,
  input_type: 'query',
  prompt_name: 'query',
  max_tokens_per_doc: 9,
  max_chunks_per_doc: 2,
  truncation: true,
  truncate: true,
};

/** What is not listed as left out went along, and is for the service to judge. */
export async function checkHints(setup: Setup, route: string, body: object): Promise<void> {
  const call = async (more: object) => {
    setup.answerWith();
    const { status, text, header } = await setup.ask(route, { model: 'm', ...body, ...more });
    return { status, text, calls: setup.calls.map((one) => one.text).sort(), ignored: header('x-postern-ignored') };
  };
  const { calls: plain } = await call({});
  for (const [name, value] of Object.entries(hints)) {
    const { status, text, calls, ignored } = await call({ [name]: value });
    assert.notEqual(calls.length, 0, `${name}: ${text}`);
    if (ignored === undefined) assert.notDeepEqual(calls, plain, `${name} was dropped without a word`);
    else {
      assert.deepEqual([status, ignored], [200, name], text);
      assert.ok(!calls.join().includes(`"${name}":`), name);
    }
  }
}
