import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSetup } from '../../test/families/family-setup.ts';
import huggingface from '../../test/families/huggingface.ts';

const asks = [
  ['/v1/moderations', { input: 'kind' }],
  ['/v1/embeddings', { input: 'x' }],
] as const;

test('a Hugging Face model name is owner/name, and a name that would change the request path is refused', async (t) => {
  for (const [route, body] of asks) {
    const operations = [route.replace('/v1/', '')];
    const setup = await openSetup(t, huggingface, { model: { id: 'hm:*', operations }, target: { model: '*' } });
    for (const name of [
      'a/b/pipeline/text-generation',
      'a/b/',
      'a/b/c',
      '/a/b',
      'a//b',
      'a/',
      '/',
      '..',
      '../b',
      'a/..',
      './b',
      'a/b/../../c',
      'a%2F../b?c',
      'a\\b/c#d',
    ]) {
      const { status, text } = await setup.ask(route, { model: `hm:${name}`, ...body });
      assert.equal(status, 404, `${name}: ${text}`);
      assert.match(text, /"code":"model_not_found"/);
    }
    assert.equal(setup.calls.length, 0);
    for (const [name, path] of [
      ['a/b', 'a/b'],
      ['bert-base', 'bert-base'],
      ['a b/c:d@e', 'a%20b/c%3Ad%40e'],
    ] as const) {
      setup.answerWith(() => ({ status: 400, body: { error: 'x' } }));
      await setup.ask(route, { model: `hm:${name}`, ...body });
      const [call] = setup.calls;
      const end = route === '/v1/embeddings' ? '/pipeline/feature-extraction' : '';
      assert.equal(call?.path, `/hf-inference/models/${path}${end}`);
    }
  }
});

test('a Hugging Face label that repeats the key or the input is not returned to the client', async (t) => {
  const setup = await openSetup(t, huggingface, { model: { operations: ['moderations'] } });
  for (const [index, label] of ['sk-service-0123456789', 'my private text'].entries()) {
    setup.answerWith(({ text }) => ({ body: [[{ label: text.includes('private') ? label : 'ok', score: 0.9 }]] }));
    const { status, text } = await setup.ask('/v1/moderations', { model: 'm', input: ['kind', 'my private text'] });
    assert.equal(status, 502, text);
    assert.match(text, /label 0 of input 1 is unknown here/);
    assert.ok(!text.includes(label), text);
    const { tries, errorCause } = await setup.rig.exchange(index + 1);
    assert.match(String(errorCause), /label 0 of input 1 is unknown here/);
    assert.ok(!JSON.stringify([tries, errorCause, setup.rig.warnings]).includes(label));
  }
});
