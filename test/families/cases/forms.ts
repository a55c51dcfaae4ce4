/** What holds for forms whoever the upstream is: bytes pass but for the model's name, wherever that stands. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import { type Operation, operationRows } from '../../../src/core/operations/index.ts';
import { toForm } from '../../support/clients/forms.ts';
import type { House } from '../house.ts';

type Cases = Readonly<Record<string, (house: House) => Promise<void>>>;

const errorOf = z.object({ error: z.object({ param: z.string(), code: z.string() }) });

export function formCases(operation: Operation): Cases {
  const { path, form: name = '' } = operationRows[operation];
  const file = { name, value: 'PNG\r\n--\u0001\r\n', filename: 'a b.mp3', type: 'audio/mpeg' };
  return {
    async 'bytes pass, but for the name of the model, before its file and behind it'(house) {
      const before = { name: 'x[]', value: 'é' };
      for (const order of [
        (model: string) => [{ name: 'model', value: model }, before, file],
        (model: string) => [before, file, before, { name: 'model', value: model, type: 'text/plain' }],
      ]) {
        house.answerWith();
        const { status, text } = await house.ask(path, toForm(order('m')));
        assert.equal(status, 200, text);
        assert.equal(house.calls[0]?.text, toForm(order(house.fixture.model)).toString());
        assert.match(house.calls[0]?.header('content-type') ?? '', /^multipart\/form-data; boundary=/);
      }
    },

    async 'a form without its file, or with a text in its place, is refused before anything is sent'(house) {
      house.answerWith();
      const model = { name: 'model', value: 'm' };
      for (const parts of [[model], [model, { name, value: 'x' }]]) {
        const { status, json } = await house.ask(path, toForm(parts));
        assert.equal(status, 400);
        assert.equal(errorOf.parse(json).error.param, name);
      }
      assert.equal(house.calls.length, 0);
    },
  };
}

export const transcriptionsCases: Cases = {
  async 'seconds and tokens are read, in an answer and in a stream'(house) {
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
      house.answerWith(() => ({ headers: { 'content-type': type }, body }));
      const before = house.rig.settled.length;
      const { text } = await house.ask('/v1/audio/transcriptions', { model: 'm' });
      assert.equal(text, body);
      const { usage } = await house.rig.exchange(before + 1);
      assert.deepEqual([usage?.seconds ?? null, usage?.promptTokens], [seconds, tokens]);
    }
  },
};

/** As JSON, and as a form. */
export const imageEditsCases: Cases = {
  async 'bytes pass as JSON, but for the name of the model'(house) {
    const odd = (model: string) =>
      `{ "prompt":"\\u00e9", "images" : [{"image_url":"data:,"}],"x":1.0e0,"model": "${model}" }`;
    house.answerWith();
    const { status, text } = await house.ask('/v1/images/edits', odd('m'));
    assert.equal(status, 200, text);
    assert.equal(house.calls[0]?.text, odd(house.fixture.model));
  },

  async 'what lacks a prompt or a picture is refused before anything is sent'(house) {
    house.answerWith();
    for (const [body, param] of [
      [{ model: 'm', images: [{}] }, 'prompt'],
      [{ model: 'm', prompt: 'p' }, 'images'],
    ] as const) {
      const { status, json } = await house.ask('/v1/images/edits', body);
      assert.equal(status, 400);
      assert.equal(errorOf.parse(json).error.param, param);
    }
    assert.equal(house.calls.length, 0);
  },
};
