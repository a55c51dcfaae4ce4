import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { Locator } from 'playwright-core';
import { openConsole, shareConsole, testInBrowser, testOnEachStore } from '../support/console/browser.ts';
import { choose, press, resultOf, shoot, tabOf } from '../support/console/playground.ts';
import { patientMs } from '../support/time/patience.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const run = promisify(execFile);
const local = { id: 'local', family: 'local' };
const config = { upstreams: [local] };
/** With the models of the local upstream alone, the first of which a tab chooses by itself. */
const openLocal = shareConsole(async () => ({ config }));
/** For tests that choose their models. */
const openNamed = shareConsole(async () => ({
  config: {
    ...config,
    models: [
      { id: 'by-words', operations: ['rerank'], targets: [{ upstream: 'local', model: 'local/bm25' }] },
      {
        id: 'hidden-words',
        operations: ['rerank'],
        visible: false,
        targets: [{ upstream: 'local', model: 'local/bm25' }],
      },
      {
        id: 'other-space',
        operations: ['embeddings'],
        space: 'of-its-own',
        targets: [{ upstream: 'local', model: 'local/hash-embed' }],
      },
    ],
  },
}));
/** The browser's message for an error status; here it is expected. */
const refusal = /Failed to load resource: the server responded with a status of 4\d\d/;

const textsOf = (items: Locator): Promise<string[]> => items.allInnerTexts();

async function startFake(t: TestContext, handler: Handler) {
  const upstream = await startFakeUpstream(handler);
  t.after(() => upstream.close());
  const models = ['completions', 'rerank', 'moderations', 'edits', 'embeddings'].map((operation) => ({
    id: `fake-${operation}`,
    operations: [operation],
    targets: [{ upstream: 'fake' }],
  }));
  const fake = { id: 'fake', family: 'openai', base_url: upstream.url, api_key: 'sk-fake-upstream-key' };
  return { upstream, config: { upstreams: [local, fake], models } };
}

testOnEachStore(
  "reranked documents are shown in their new order with a link to the request, sent with the playground's own key",
  async (_t, open) => {
    const postern = await open({ config });
    const { page, ...visitor } = await postern.signIn('editor');
    await visitor.open(tabOf('rerank'));
    const documents = page.getByRole('list', { name: /^Documents/ }).getByRole('listitem');
    await documents.nth(9).waitFor();
    await press(page, 'Rerank');
    await page.getByRole('list', { name: 'Documents, the best first' }).waitFor();
    const [first = ''] = await textsOf(documents);
    assert.match(first, /^1\s*4?\s*was 5\s*To reset your password/);
    assert.equal(await documents.first().locator('mark').first().innerText(), 'reset');
    await resultOf(page).getByText('local/bm25', { exact: false }).first().waitFor();
    await resultOf(page)
      .getByRole('link', { name: /^playground\.editor/ })
      .waitFor();

    const rows = await postern.ask('GET', '/api/keys');
    const own = rows.items.filter(({ document }: { document: { name?: string } }) =>
      document.name?.startsWith('Playground ('),
    );
    assert.equal(own.length, 1);
  },
);

testInBrowser('rerank can be limited to the best three documents, and compares two models side by side', async (t) => {
  const postern = await openNamed(t);
  const { page, ...visitor } = await postern.signIn('editor');
  await visitor.open(tabOf('rerank'));
  await choose(page, 'Model', 'local/bm25');
  await press(page, 'Rerank');
  await visitor.checkAccessibility();
  await shoot(visitor, page, 'playground-rerank');

  await page.getByRole('button', { name: 'Only the best three' }).click();
  await page.getByText('You changed something since').waitFor();
  await press(page, 'Rerank');
  assert.equal(await page.getByText('left out', { exact: true }).count(), 3);

  await page.getByRole('button', { name: 'Find the right answer among ten' }).click();
  await choose(page, 'Compare with', 'by-words');
  await press(page, 'Rerank');
  await page.getByRole('list', { name: 'Order of by-words' }).waitFor();
  assert.equal(await page.locator('.rank-line').count(), 10);
  await visitor.checkAccessibility();
  await shoot(visitor, page, 'playground-rerank-two');
});

testInBrowser(
  'embeddings are compared in a heat map and a 2D plot, also as base64 and on the legacy engines path',
  async (t) => {
    const postern = await openNamed(t);
    const { page, ...visitor } = await postern.signIn('editor');
    await visitor.open(tabOf('embeddings'));
    await choose(page, 'Model', 'local/hash-embed');
    await press(page, 'Embed and compare');
    const table = page.getByRole('table', { name: /^How alike/ });
    await table.waitFor();
    const cell = (row: number, column: number) => table.locator(`[data-cell="${row}-${column}"]`);
    const numberIn = async (row: number, column: number) => Number(await cell(row, column).innerText());
    assert.equal(await numberIn(0, 0), 1);
    assert.ok((await numberIn(0, 1)) > (await numberIn(0, 3)), 'sentences on one topic are more alike');
    const numbers = await textsOf(table.locator('tbody td'));
    await cell(0, 0).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^1 and 2: 0\.\d{4}\./).waitFor();
    await page.getByRole('img', { name: /on a plane/ }).waitFor();
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-embeddings');
    await page.getByRole('button', { name: 'History of this tab' }).click();
    const widthOf = async (one: Locator) => (await one.boundingBox())?.width ?? assert.fail('it is not there');
    const runs = page.getByRole('menu');
    assert.ok(
      (await widthOf(runs.getByText(/^The cat sleeps/))) < (await widthOf(runs)),
      'a run is wider than its menu',
    );
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: /^Options/ }).click();
    await choose(page, 'encoding_format', 'base64: fewer bytes');
    await press(page, 'Embed and compare');
    await page.getByText('sent as base64').waitFor();
    // They are compared in slices.
    await table.locator('tbody td').first().waitFor();
    assert.deepEqual(await textsOf(table.locator('tbody td')), numbers, 'the same vectors, however they travel');

    await page.getByRole('textbox', { name: 'dimensions' }).fill('64');
    await choose(page, 'Compare with', 'other-space');
    await press(page, 'Embed and compare');
    await page.getByText('64 numbers a text').first().waitFor();
    await page.getByText('Compare the patterns, not the numbers').waitFor();
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-embeddings-two');

    await visitor.open(tabOf('engines-embeddings'));
    await choose(page, 'Model', 'local/hash-embed');
    await press(page, 'Embed and compare');
    await page.getByRole('table', { name: /^How alike/ }).waitFor();
    await page.getByText('/v1/engines/local/hash-embed/embeddings').first().waitFor();
    await shoot(visitor, page, 'playground-legacy');
  },
);

testInBrowser(
  'moderation shows which texts are flagged and why, and edits mark deleted and inserted words',
  async (t) => {
    const postern = await openLocal(t);
    const { page, ...visitor } = await postern.signIn('editor');
    await visitor.open(tabOf('moderations'));
    await press(page, 'Judge');
    const verdicts = page.getByRole('article');
    assert.deepEqual(
      (await textsOf(verdicts)).map((text) => /Not flagged|Flagged/.exec(text)?.[0]),
      ['Flagged', 'Not flagged', 'Flagged'],
    );
    await verdicts.first().getByText('flagged', { exact: true }).first().waitFor();
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-moderation');

    await page.getByRole('tab', { name: 'Edits' }).click();
    await press(page, 'Edit');
    assert.deepEqual(await textsOf(page.locator('del')), ['small gate', 'small gate']);
    assert.deepEqual(await textsOf(page.locator('ins')), ['back door', 'back door']);
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-edits');
  },
);

testInBrowser(
  'a completion is shown as it streams, can be stopped, and is marked when the stream breaks off',
  async (t) => {
    const isSeen = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let turn = 0;
    const { upstream, config: withFake } = await startFake(t, async (_request, reply) => {
      turn += 1;
      await reply.head(200, [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]);
      await reply.chunk('data: {"choices":[{"index":0,"text":"first ","finish_reason":null}]}\n\n');
      if (turn === 1) await isSeen[0].promise;
      if (turn === 2) return reply.stall();
      await reply.chunk('data: {"choices":[{"index":0,"text":"second","finish_reason":null}]}\n\n');
      if (turn === 3) {
        await isSeen[1].promise;
        return reply.reset();
      }
      await reply.chunk('data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      return reply.lastChunk();
    });
    const postern = await openConsole(t, { config: withFake });
    const { page, ...visitor } = await postern.signIn('editor');
    visitor.allow(/ERR_INCOMPLETE_CHUNKED_ENCODING|net::ERR/);
    await visitor.open(tabOf('completions'));
    await choose(page, 'Model', 'fake-completions');
    const complete = page.getByRole('button', { name: 'Complete', exact: true });
    const written = page.getByTestId('written');

    await complete.click();
    await written.filter({ hasText: /^first\s*$/ }).waitFor();
    isSeen[0].resolve();
    await page.getByText('ended by itself').waitFor();
    assert.equal(await written.textContent(), 'first second');

    await complete.click();
    await written.filter({ hasText: /^first\s*$/ }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    assert.equal(upstream.requests.length, 2);

    await complete.click();
    await written.filter({ hasText: 'first second' }).waitFor();
    isSeen[1].resolve();
    await page.getByText('The answer broke off').waitFor();
    assert.equal(await written.textContent(), 'first second');

    await choose(page, 'Model', 'local/echo');
    await page.getByRole('button', { name: 'Let it go on' }).click();
    await press(page, 'Complete');
    await page
      .getByText(/^The postern was the small gate/)
      .last()
      .waitFor();
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-completions');
  },
);

testInBrowser(
  'the curl command shown for each playground route works unchanged with a key in POSTERN_KEY',
  async (t) => {
    const postern = await openLocal(t);
    const { secret } = await postern.ask('POST', '/api/keys', { name: 'for curl', models: ['*'] });
    const { page, ...visitor } = await postern.signIn('editor');
    for (const [route, field] of [
      ['rerank', 'results'],
      ['embeddings', 'data'],
      ['moderations', 'results'],
      ['edits', 'choices'],
      ['engines-embeddings', 'data'],
    ] as const) {
      await visitor.open(tabOf(route));
      await page.getByText(/-H "Authorization: Bearer \$POSTERN_KEY"/).waitFor();
      // Set as soon as the models are known.
      await page.locator('.snippet-code').filter({ hasText: 'local/' }).waitFor();
      const command = (await page.locator('.snippet-code').first().textContent()) ?? '';
      const { stdout } = await run('/bin/sh', ['-c', `${command} --silent --show-error --fail-with-body`], {
        env: { PATH: process.env.PATH ?? '', POSTERN_KEY: secret },
        timeout: patientMs(10_000),
      });
      assert.ok(Array.isArray(JSON.parse(stdout)[field]), route);
    }
  },
);

const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"><svg onload=window.hacked=1>`;

/** A hostile upstream: whatever it answers is shown as text, and nothing else. */
const hostileAnswers: Handler = (request, reply) => {
  const answers: Readonly<Record<string, unknown>> = {
    '/rerank': { results: [{ index: 0, relevance_score: 0.5 }, { index: hostile }, null], model: hostile },
    '/moderations': {
      results: [{ flagged: true, categories: { [hostile]: true, __proto__: 1 }, category_scores: { [hostile]: 9 } }],
    },
    '/edits': { choices: [{ text: hostile }] },
    '/embeddings': { data: [{ index: 0, embedding: hostile }], [hostile]: hostile },
    '/completions': { choices: [{ text: hostile, index: 0, finish_reason: hostile }] },
  };
  const { prompt } = JSON.parse(request.body.toString());
  if (prompt === 'fail') return reply.json(422, { error: { message: hostile, code: hostile, param: hostile } });
  if (prompt === 'page') return reply.bytes(200, [['content-type', 'text/html']], hostile);
  return reply.json(200, answers[request.path] ?? {}, [['x-postern-note', hostile]]);
};

testInBrowser(
  'HTML and scripts in playground input and upstream answers are shown as text, and never run',
  async (t) => {
    const { config: withFake } = await startFake(t, hostileAnswers);
    const postern = await openConsole(t, { config: withFake });
    const { page, ...visitor } = await postern.signIn('editor');
    visitor.allow(refusal);
    const attempt = async (route: string, model: string, field: RegExp, text: string, label: string): Promise<void> => {
      await visitor.open(tabOf(route));
      await choose(page, 'Model', model);
      await page.getByRole('textbox', { name: field }).first().fill(text);
      await press(page, label);
      await page.getByRole('tab', { name: 'Answer' }).click();
      assert.equal(await page.evaluate('window.hacked'), undefined, route);
      assert.equal(await page.locator('main img').count(), 0, route);
    };
    await attempt('rerank', 'fake-rerank', /^Documents/, hostile, 'Rerank');
    await page
      .getByRole('list', { name: 'Documents, the best first' })
      .getByText('onerror', { exact: false })
      .waitFor();
    await attempt('moderations', 'fake-moderations', /^Texts/, hostile, 'Judge');
    await attempt('edits', 'fake-edits', /^Text/, hostile, 'Edit');
    await attempt('embeddings', 'fake-embeddings', /^Texts/, hostile, 'Embed and compare');
    await page.getByText('The answer cannot be drawn').waitFor();
    for (const prompt of [hostile, 'fail']) {
      await attempt('completions', 'fake-completions', /^Prompt/, prompt, 'Complete');
    }
    visitor.allow(/status of 502/);
    await attempt('completions', 'fake-completions', /^Prompt/, 'page', 'Complete');
    await page.getByText('upstream_protocol_error', { exact: true }).waitFor();
  },
);

testInBrowser('a viewer can open the playground, cannot send, and is told which role may', async (t) => {
  const { page, ...visitor } = await (await openLocal(t)).signIn('viewer');
  await visitor.open(tabOf('rerank'));
  await page.getByRole('group', { name: /takes the role editor/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Rerank', exact: true }).isDisabled(), true);
  await visitor.checkAccessibility();
});

testInBrowser(
  'playground input survives a page reload but a typed key does not, and refusals say what to do',
  async (t) => {
    const postern = await openNamed(t);
    const { page, ...visitor } = await postern.signIn('editor');
    visitor.allow(refusal);
    await visitor.open(tabOf('rerank'));
    await page.getByRole('textbox', { name: 'Question' }).fill('kept over a reload?');
    await choose(page, 'Model', 'hidden-words (hidden)');
    await page.reload();
    await page.getByText('this route answers as if there were no such model').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Question' }).inputValue(), 'kept over a reload?');

    await page.getByRole('textbox', { name: 'Question' }).press('Control+Enter');
    await page.getByText('model_not_found', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Open the models' }).waitFor();
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-refused');

    await choose(page, 'Model', 'local/bm25');
    await page.getByRole('button', { name: "Key: the playground's own" }).click();
    await page.getByLabel('Use another key').fill('not-a-key-of-anybody');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rerank', exact: true }).click();
    await page.getByText('invalid_api_key', { exact: true }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: "Key: the playground's own" }).waitFor();
  },
);
