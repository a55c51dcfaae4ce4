/** Test cases of errors and mismatched responses, for any upstream and operation. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import { upstreamError } from '../../../src/core/errors.ts';
import { bodyOf, type Operation, operationRows, pathOf } from '../../../src/core/operations/index.ts';
import type { Answered, Setup } from '../family-setup.ts';
import { toText } from '../family-setup.ts';

const questionOf = (operation: Operation): object => bodyOf(operation, 'm', operationRows[operation].trial);

const error = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
    upstream: z.unknown().optional(),
  }),
});

/** The same in a form that few services take as it comes, so that most have to be asked in another. */
const translated: Readonly<Partial<Record<Operation, { body: object; headers?: Readonly<Record<string, string>> }>>> = {
  completions: { body: { model: 'm', prompt: ['p', 'q'] } },
  rerank: { body: questionOf('rerank'), headers: { 'x-postern-shape': 'tei' } },
  embeddings: { body: { model: 'm', input: [[9906, 1917], [1578]] } },
};

/** True if even that passes unchanged, byte for byte. */
function passesAll({ fixture }: Setup, operation: Operation): boolean {
  const takesIds = fixture.takesTokenIds === true;
  if (operation === 'embeddings') return takesIds;
  return operation === 'moderations' ? takesIds : operation !== 'rerank';
}

async function askTranslated(setup: Setup, operation: Operation): Promise<Answered> {
  const { body, headers } = translated[operation] ?? { body: questionOf(operation) };
  const answer = await setup.ask(pathOf(operation, 'm'), body, headers);
  const isTranslated = answer.status !== 200 || answer.header('x-postern-translated') !== undefined;
  assert.ok(isTranslated || passesAll(setup, operation), 'nothing is translated, so nothing is shown here');
  return answer;
}

const askFor = (setup: Setup, operation: Operation): Promise<Answered> =>
  setup.ask(pathOf(operation, 'm'), questionOf(operation));

const passesErrors = ({ passesErrors: passes }: Setup['fixture'], operation: Operation): boolean =>
  passes === true || passes?.includes(operation) === true;

/** In this order one setup serves all: the last leaves the target in cooldown. */
export const errorCases: Readonly<Record<string, (setup: Setup, operation: Operation) => Promise<void>>> = {
  async 'an HTML, empty, truncated or mismatched answer with status 200 becomes 502 when it has to be translated'(
    setup,
    operation,
  ) {
    const good = await askTranslated(setup, operation);
    assert.equal(good.status, 200, good.text);
    // What passes as it comes is for the client to judge.
    if (good.header('x-postern-translated') === undefined) return;
    for (const body of [
      '<html><body>hello</body></html>',
      '',
      '{"a":',
      '{}',
      '[]',
      'null',
      '"text"',
      '{"data":[],"results":[]}',
    ]) {
      setup.answerWith(() => ({ body }));
      const { status, text } = await askTranslated(setup, operation);
      assert.equal(status, 502, `${body}: ${text}`);
      assert.match(text, /"code":"upstream_protocol_error"/);
      assert.match(text, /does not fit the request \(/);
    }
  },

  async 'an answer that is cut short, or contains NaN, becomes 502 when it has to be translated'(setup, operation) {
    const good = await askTranslated(setup, operation);
    if (good.header('x-postern-translated') === undefined) return;
    const whole = toText(setup.fixture.service(setup.calls.at(-1) ?? assert.fail('no call')).body);
    const bad = [whole.slice(0, -1), whole.replace(/(?<=[:[,])-?\d+(?:\.\d+)?(?=[,\]}])/, 'NaN')];
    for (const body of bad.filter((text) => text !== whole)) {
      setup.answerWith(() => ({ body }));
      const { status, text } = await askTranslated(setup, operation);
      assert.equal(status, 502, `${body}: ${text}`);
    }
  },

  async "upstream errors get the gateway's error shape, and keep status, Retry-After, message and original body"(
    setup,
    operation,
  ) {
    const { fixture } = setup;
    for (const status of [400, 404, 422, 500, 503, ...Object.keys(fixture.statuses ?? {}).map(Number), 429]) {
      const said = fixture.error(status, `no good: ${status}`);
      // It is honoured, so nothing more can be asked after it.
      const headers = status === 429 ? { ...said.headers, 'retry-after': '7' } : (said.headers ?? {});
      setup.answerWith(() => ({ ...said, headers }));
      const answer = await askFor(setup, operation);
      assert.equal(answer.status, fixture.statuses?.[status] ?? status, answer.text);
      if (status === 429) assert.equal(answer.header('retry-after'), '7');
      const isTranslated = answer.header('x-postern-translated') !== undefined;
      if (passesErrors(fixture, operation) && !isTranslated) {
        assert.equal(answer.text, toText(said.body));
        continue;
      }
      const { error: ours } = error.parse(answer.json);
      const isWithheld = fixture.withheld?.includes(status) === true;
      if (!isWithheld) assert.ok(ours.message.includes(`no good: ${status}`), answer.text);
      // What is in our shape as it comes passes as it is, where the bytes of the question did.
      if (!isTranslated) {
        assert.equal(answer.text, toText(said.body));
        continue;
      }
      const { type, code } = upstreamError(answer.status);
      assert.deepEqual([ours.type, ours.code], [type, code]);
      assert.ok(ours.param === null || ours.param in questionOf(operation), `${ours.param}`);
      assert.deepEqual(ours.upstream, isWithheld ? undefined : JSON.parse(toText(said.body)));
    }
  },
};
