/** What a model's page says of its lists: what is remembered, that an upstream has changed it, and how it agrees with another one. */

import assert from 'node:assert/strict';
import { openStore } from '../../src/store/open-store.ts';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { imported } from '../support/ledger/ledger-rows.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

testInBrowser(
  "a model's page shows its cache, shadow traffic and drift, accepts the drifted model, and clears the cache",
  async (t) => {
    let turned = 0;
    const script: Handler = (request, reply) => {
      const { input } = JSON.parse(request.body.toString()) as { input: string | string[] };
      const data = [input].flat().map((text, index) => ({
        object: 'embedding',
        index,
        embedding: turned === 0 ? [text.length, 1, 0] : [0, 1, text.length],
      }));
      return reply.json(200, { object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } });
    };
    const upstream = await startFakeUpstream(script);
    t.after(() => upstream.close());
    const rig = await openConsole(t, {
      config: {
        upstreams: [{ id: 'ours', family: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-0123456789' }],
        models: [
          {
            id: 'embedder',
            operations: ['embeddings'],
            cache: { ttl: '1h' },
            coalesce: {},
            shadow: { model: 'newer', share: 1 },
            canary: { texts: ['one', 'three'], every: '1s' },
            targets: [{ upstream: 'ours' }],
          },
          { id: 'newer', operations: ['embeddings'], targets: [{ upstream: 'ours', model: 'newer' }] },
        ],
      },
    });
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    await visitor.open('/models');
    await page.getByRole('link', { name: 'embedder', exact: true }).click();
    const drawer = page.locator('aside, .subject');
    await drawer.getByText('Items are remembered for 1h, for each project, 64MiB in each process.').waitFor();
    await drawer.getByText('100 % of its requests go to newer as well.').waitFor();
    await drawer.getByRole('table', { name: 'Canaries' }).getByText('1.000').waitFor();
    // What is seen of it at a glance.
    const embed = async (input: string): Promise<void> => {
      const response = await fetch(`${rig.gateway.url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'embedder', input }),
      });
      await response.arrayBuffer();
    };
    const overview = await rig.signIn('viewer');
    await overview.open('/');
    await overview.page
      .getByRole('region', { name: 'Drift and shadow traffic' })
      .getByText('Canary texts at ours: embedder')
      .waitFor();
    const sending = setInterval(() => void embed('the same'), 100);
    t.after(() => clearInterval(sending));
    await overview.page.getByText(/^Shadow newer: cosine similarity over/).waitFor();
    await overview.shoot('overview-lists');
    await overview.open('/explorer?range=5m');
    await overview.until(`(document.querySelector('.live-words')?.textContent ?? '') === 'Following'`);
    await overview.page.getByText(/were cached, which saved/).waitFor();
    clearInterval(sending);
    await overview.checkAccessibility();
    await overview.open('/explorer?key=test&model=embedder');
    await overview.page.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1).click();
    await overview.shoot('request-saved');
    await overview.page.getByText('Remembered, and asked of nobody: 1 item, 1 token.').waitFor();
    turned = 1;
    await drawer.getByText('An upstream has changed this model').waitFor();
    await visitor.shoot('model-changed');
    await visitor.checkAccessibility();
    await drawer.getByRole('button', { name: 'Take it as it is now' }).click();
    await drawer.getByText('An upstream has changed this model').waitFor({ state: 'detached' });
    await drawer.getByRole('button', { name: 'Forget what is remembered' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await page.getByText('What was remembered is forgotten on every node.').waitFor();
  },
);

/** What scrolls sideways, or is cut off by the window; tabs may scroll within their row. */
const tooWide = `[...document.querySelectorAll('html, .main *')]
  .filter((one) => one.tagName === 'HTML' || /auto|scroll/.test(getComputedStyle(one).overflowX))
  .filter((one) => !one.matches('.tab-row, pre') && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.tagName + ' ' + one.className)`;

testInBrowser(
  'tables show each row in one line at 1440 px, sort all rows on the server, and never scroll sideways',
  async (t) => {
    const price = { input: 0.15, output: 0.6, cached_input: 0.075, audio_input: 10 };
    const names = Array.from({ length: 60 }, (_, at) => `embed-${String(at).padStart(2, '0')}`);
    const { signIn, gateway, ask } = await openConsole(t, {
      config: {
        upstreams: [{ id: 'local', family: 'local' }],
        models: [
          ...names.map((id) => ({
            id,
            operations: ['rerank'],
            price: 'free',
            targets: [{ upstream: 'local', model: 'bm25' }],
          })),
          {
            id: 'the-one-with-a-long-price',
            aliases: ['another-name-of-the-one-with-a-long-price'],
            operations: ['rerank'],
            price,
            targets: [{ upstream: 'local', model: 'bm25' }],
          },
        ],
        keys: [{ id: 'nightly-import-of-everything', secret: 'key-of-the-import-with-enough-characters' }],
      },
    });
    const startedAtMs = Date.now() - 60_000;
    const store = await openStore('sqlite:postern.db', { cwd: gateway.directory });
    const rows = names.flatMap((model, at) =>
      Array.from({ length: at === 0 ? 1 : 2 }, () =>
        imported({ model, upstream: 'local', key: 'nightly-import-of-everything', startedAtMs, durationMs: 1_234 }),
      ),
    );
    await store.ledger.import('j', rows, { segment: 1, offset: 1 });
    await store.close();
    const { page, open, shoot } = await signIn('editor');
    await page.setViewportSize({ width: 1440, height: 900 });
    const heights = async (selector: string): Promise<number[]> =>
      Promise.all((await page.locator(selector).all()).map(async (one) => (await one.boundingBox())?.height ?? 0));
    for (const path of ['/models', '/upstreams']) {
      await open(path);
      assert.ok(Math.max(...(await heights('tbody tr'))) < 48, `${path} has rows of several lines`);
    }
    await open('/models?sort=requests&direction=asc');
    const rowOf = (id: string) => page.getByRole('row', { name: new RegExp(id) });
    // The one with the fewest requests of 60: no list of the busiest has it.
    await rowOf('embed-00')
      .getByText(/^1\.2\d s$/)
      .waitFor();
    await rowOf('the-one-with-a-long-price').getByText('$0.15 in, $0.60 out').waitFor();
    await open('/keys');
    await rowOf('nightly-import').waitFor();
    assert.ok(Math.max(...(await heights('.row-name > :first-child'))) < 28, 'the name of a key is broken');
    await shoot('lists-keys');
    for (const width of [1440, 1280, 1024, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ['/models', '/upstreams', '/keys', '/explorer?by=model', '/settings/members']) {
        await open(path);
        await page.locator('.main :is(td, li)').first().waitFor();
        assert.deepEqual(await page.evaluate(tooWide), [], `${path} at ${width}`);
      }
    }
    // What has no column there is below the name.
    await page.setViewportSize({ width: 1024, height: 768 });
    await open('/models?sort=requests&direction=asc');
    await rowOf('the-one-with-a-long-price').getByText('$0.15 in, $0.60 out').waitFor();
    await shoot('lists-models');
    assert.equal((await ask('GET', '/api/models?sort=requests&limit=1')).items[0].traffic.requests, 2);
  },
);

testInBrowser('the model list can be filtered by any of 203 upstreams', async (t) => {
  const ids = Array.from({ length: 203 }, (_, at) => `up-${String(at).padStart(3, '0')}`);
  const { signIn } = await openConsole(t, {
    looks: false,
    config: {
      upstreams: ids.map((id) => ({
        id,
        family: 'openai',
        base_url: 'http://127.0.0.1:9/v1',
        api_key: 'sk-0123456789',
      })),
      models: ids.map((id) => ({ id: `model-of-${id}`, operations: ['embeddings'], targets: [{ upstream: id }] })),
    },
  });
  const { page, open } = await signIn('viewer');
  await open('/models');
  await page.getByLabel('Upstream').first().fill('up-202');
  await page.getByRole('option', { name: 'up-202' }).click();
  await page.getByRole('link', { name: 'model-of-up-202' }).waitFor();
  await page.getByText('1 model', { exact: true }).waitFor();
});
