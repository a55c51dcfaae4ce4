/** Test cases of images and audio at any upstream: bytes pass, both ways. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import type { Setup } from '../family-setup.ts';
import type { WireCall, WireReply } from '../fixture.ts';

type Cases = Readonly<Record<string, (setup: Setup) => Promise<void>>>;

const pictureAsked = z.object({ model: z.string(), prompt: z.string(), n: z.int().min(1).max(10).nullish() });
const speechAsked = z.object({ model: z.string(), input: z.string().max(4096), voice: z.string() });

/** In a service's format; undefined for other paths. `path` after the version. */
export function mediaOf({ body, text }: WireCall, path: string): WireReply | undefined {
  if (path === '/images/edits' || path === '/images/variations')
    return { body: { created: 1, data: [{ b64_json: 'AAAA' }] } };
  if (path === '/audio/transcriptions' || path === '/audio/translations') {
    return text.includes('name="file"; filename=')
      ? { body: { text: 'hello', usage: { type: 'duration', seconds: 9 } } }
      : undefined;
  }
  if (path === '/images/generations') {
    const { n } = pictureAsked.parse(body);
    const usage = { input_tokens: 5, output_tokens: 100, total_tokens: 105 };
    return { body: { created: 1, data: Array.from({ length: n ?? 1 }, () => ({ b64_json: 'AAAA' })), usage } };
  }
  if (path !== '/audio/speech') return undefined;
  const { input } = speechAsked.parse(body);
  return { headers: { 'content-type': 'audio/mpeg' }, body: `sound of ${input}` };
}

/** With white space, numbers, escapes and fields as no parser would write them. */
const odd = (fields: string, model: string): string => `{ ${fields},\t"x":1.0e0,"model": "${model}", "y":[1e2,-0]}\n`;

const errorOf = z.object({ error: z.object({ param: z.string() }) });

async function refuses(setup: Setup, route: string, rows: readonly (readonly [body: object, param: string])[]) {
  for (const [body, param] of rows) {
    setup.answerWith();
    const { status, json } = await setup.ask(route, body);
    assert.equal(status, 400);
    assert.equal(errorOf.parse(json).error.param, param);
    assert.equal(setup.calls.length, 0);
  }
}

const pictures = '/v1/images/generations';
const prompt = '"prompt" : "\\u00e9 \\/ 🚀", "n": 2';

export const imagesCases: Cases = {
  async 'the request passes byte for byte with the model renamed, and tokens and images are recorded'(setup) {
    const said = `{"created":1,"data":[{"b64_json":"${'A'.repeat(200_000)}"},{"b64_json":"AA\\/A"}], "usage":{"input_tokens":7,"output_tokens":272,"total_tokens":279,"input_tokens_details":{"text_tokens":7,"image_tokens":0}}}`;
    setup.answerWith(() => ({ body: said }));
    const before = setup.rig.settled.length;
    const { status, text } = await setup.ask(pictures, odd(prompt, 'm'));
    assert.equal(status, 200, text);
    assert.equal(setup.calls[0]?.text, odd(prompt, setup.fixture.model));
    assert.equal(text, said);
    const { usage, bill } = await setup.rig.exchange(before + 1);
    assert.deepEqual([usage?.promptTokens, usage?.completionTokens, bill?.images], [7, 272, 2]);
  },

  async 'a stream passes unchanged, and usage after a 300 KB image is still read'(setup) {
    const completed = `{"type":"image_generation.completed","b64_json":"${'A'.repeat(300_000)}","usage":{"input_tokens":7,"output_tokens":272,"total_tokens":279}}`;
    const stream = `event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","b64_json":"AAAA","partial_image_index":0}\n\nevent: image_generation.completed\ndata: ${completed}\n\n`;
    setup.answerWith(() => ({ headers: { 'content-type': 'text/event-stream' }, body: stream }));
    const before = setup.rig.settled.length;
    const { text } = await setup.ask(pictures, { model: 'm', prompt: 'p', stream: true, partial_images: 1 });
    assert.equal(text, stream);
    const { usage } = await setup.rig.exchange(before + 1);
    assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [7, 272]);
  },

  'a request without a text prompt gets 400 without an upstream call': (setup) =>
    refuses(setup, pictures, [
      [{ model: 'm' }, 'prompt'],
      [{ model: 'm', prompt: ['p'] }, 'prompt'],
      [{ model: 7, prompt: 'p' }, 'model'],
    ]),
};

const aloud = '/v1/audio/speech';
const input = '"input" : "\\u00e9 \\/ 🚀", "voice": "alloy"';

export const speechCases: Cases = {
  async 'the request passes byte for byte with the model renamed, and the audio is returned unchanged'(setup) {
    const said = `ID3 ${'\u0001\u0000'.repeat(50_000)}`;
    setup.answerWith(() => ({ headers: { 'content-type': 'audio/mpeg' }, body: said }));
    const { status, text, header } = await setup.ask(aloud, odd(input, 'm'));
    assert.equal(status, 200);
    assert.equal(header('content-type'), 'audio/mpeg');
    assert.equal(setup.calls[0]?.text, odd(input, setup.fixture.model));
    assert.equal(text, said);
  },

  async 'a stream of audio events passes unchanged, and its usage is recorded'(setup) {
    const stream =
      'data: {"type":"speech.audio.delta","audio":"AAAA"}\n\ndata: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":20,"total_tokens":24}}\n\n';
    setup.answerWith(() => ({ headers: { 'content-type': 'text/event-stream' }, body: stream }));
    const before = setup.rig.settled.length;
    const { text } = await setup.ask(aloud, { model: 'm', input: 'x', voice: 'alloy', stream_format: 'sse' });
    assert.equal(text, stream);
    const { usage } = await setup.rig.exchange(before + 1);
    assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [4, 20]);
  },

  'a request without an input text gets 400 without an upstream call': (setup) =>
    refuses(setup, aloud, [
      [{ model: 'm', voice: 'alloy' }, 'input'],
      [{ model: 'm', input: ['x'], voice: 'alloy' }, 'input'],
    ]),
};
