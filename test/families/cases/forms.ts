/** Test cases of forms at any upstream: bytes pass except for the model's name, wherever it is. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import { type Operation, operationRows } from '../../../src/core/operations/index.ts';
import { toForm } from '../../support/clients/forms.ts';
import type { Setup } from '../family-setup.ts';

type Cases = Readonly<Record<string, (setup: Setup) => Promise<void>>>;

const errorOf = z.object({ error: z.object({ param: z.string(), code: z.string() }) });

export function formCases(operation: Operation): Cases {
  const { path, form: name = '' } = operationRows[operation];
  const file = { name, value: 'PNG\r\n--\u0001\r\n', filename: 'a b.mp3', type: 'audio/mpeg' };
  return {
    async 'a multipart form passes byte for byte with the model renamed, whether before or after the file'(setup) {
      const before = { name: 'x[]', value: 'é' };
      for (const order of [
        (model: string) => [{ name: 'model', value: model }, before, file],
        (model: string) => [before, file, before, { name: 'model', value: model, type: 'text/plain' }],
      ]) {
        setup.answerWith();
        const { status, text } = await setup.ask(path, toForm(order('m')));
        assert.equal(status, 200, text);
        assert.equal(setup.calls[0]?.text, toForm(order(setup.fixture.model)).toString());
        assert.match(setup.calls[0]?.header('content-type') ?? '', /^multipart\/form-data; boundary=/);
      }
    },

    async 'a form without its file, or with text instead of the file, gets 400 without an upstream call'(setup) {
      setup.answerWith();
      const model = { name: 'model', value: 'm' };
      for (const parts of [[model], [model, { name, value: 'x' }]]) {
        const { status, json } = await setup.ask(path, toForm(parts));
        assert.equal(status, 400);
        assert.equal(errorOf.parse(json).error.param, name);
      }
      assert.equal(setup.calls.length, 0);
    },
  };
}

export const transcriptionsCases: Cases = {
  async 'audio seconds and tokens are read from JSON answers and from streams'(setup) {
    for (const [body, type, seconds, tokens] of [
      ['{"text":"a","usage":{"type":"duration","seconds":9.5}}', 'application/json', 9.5, null],
      ['{"task":"transcribe","duration":8.25,"text":"a","segments":[]}', 'application/json', 8.25, null],
      ['{"text":"a","usage":{"type":"tokens","input_tokens":14,"output_tokens":5}}', 'application/json', null, 14],
      [
        'data: {"type":"transcript.text.done","text":"a","usage":{"type":"tokens","input_tokens":14,"output_tokens":5}}\n\n',
        'text/event-stream',
        null,
        14,
      ],
    ] as const) {
      setup.answerWith(() => ({ headers: { 'content-type': type }, body }));
      const before = setup.rig.settled.length;
      const { text } = await setup.ask('/v1/audio/transcriptions', { model: 'm' });
      assert.equal(text, body);
      const { usage } = await setup.rig.exchange(before + 1);
      assert.deepEqual([usage?.seconds ?? null, usage?.promptTokens], [seconds, tokens]);
    }
  },
};

/** As JSON, and as a form. */
export const imageEditsCases: Cases = {
  async 'a JSON request passes byte for byte with the model renamed'(setup) {
    const odd = (model: string) =>
      `{ "prompt":"\\u00e9", "images" : [{"image_url":"data:,"}],"x":1.0e0,"model": "${model}" }`;
    setup.answerWith();
    const { status, text } = await setup.ask('/v1/images/edits', odd('m'));
    assert.equal(status, 200, text);
    assert.equal(setup.calls[0]?.text, odd(setup.fixture.model));
  },

  async 'a request without a prompt or an image gets 400 without an upstream call'(setup) {
    setup.answerWith();
    for (const [body, param] of [
      [{ model: 'm', images: [{}] }, 'prompt'],
      [{ model: 'm', prompt: 'p' }, 'images'],
    ] as const) {
      const { status, json } = await setup.ask('/v1/images/edits', body);
      assert.equal(status, 400);
      assert.equal(errorOf.parse(json).error.param, param);
    }
    assert.equal(setup.calls.length, 0);
  },
};
