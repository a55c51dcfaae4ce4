/** The page Overview: real traffic in its live numbers, longer stretches, the first steps, and what it does out of sight. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type ConsoleRig,
  openConsole,
  testInBrowser,
  testOnEachStore,
  type Visitor,
} from '../support/console/browser.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const run = promisify(execFile);

async function upstreamConfig(t: TestContext): Promise<Record<string, unknown>> {
  const upstream = await startFakeUpstream((entry, reply) => {
    const { model } = JSON.parse(entry.body.toString());
    if (model === 'failing') reply.json(500, { error: { message: 'broken' } });
    else reply.json(200, { object: 'list', data: [{}], model, usage: { prompt_tokens: 40, total_tokens: 40 } });
  });
  t.after(() => upstream.close());
  return {
    upstreams: [{ id: 'near', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: ['bge-m3', 'failing'].map((id) => ({
      id,
      operations: ['embeddings'],
      price: { input: 1000 },
      targets: [{ upstream: 'near', model: id }],
    })),
  };
}

async function send({ gateway }: ConsoleRig, model = 'bge-m3', count = 1): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const response = await fetch(`${gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'x' }),
    });
    await response.arrayBuffer();
  }
}

/** The number on a tile of the first row. */
function tileValue(label: string): string {
  return `[...document.querySelectorAll('.tile')].find((tile) => tile.textContent.startsWith(${JSON.stringify(label)}))?.children[1]?.textContent ?? ''`;
}

const chartsAreDrawn = `document.querySelectorAll('.drawing svg').length >= 4`;
const words = `document.querySelector('.live-words')?.textContent ?? ''`;

testOnEachStore(
  'real traffic shows in the live numbers, in the longer stretches, and leads to its requests',
  async (t, open) => {
    const rig = await open({ config: await upstreamConfig(t) });
    const { page, open: go, until, shoot, checkAccessibility } = await rig.signIn('viewer');
    await go('/');
    await until(`${words} === 'Following'`);
    let isOver = false;
    let sent = 0;
    const traffic = (async () => {
      while (!isOver) {
        await send(rig);
        sent += 1;
        await wait(100);
      }
    })();
    await until(`Number.parseFloat(${tileValue('Requests a second')}) > 0`);
    await until(`/^0\\s?%$/.test(${tileValue('Errors')})`);
    await until(`Number.parseFloat(${tileValue('Tokens a second')}) > 0`);
    await until(`/ms|sec/.test(${tileValue('95 % within')})`);
    await until(`/[1-9]/.test(${tileValue('Cost today')})`);
    await send(rig, 'failing', 20);
    sent += 20;
    await until(`Number.parseFloat(${tileValue('Errors')}) > 0`);
    await until(chartsAreDrawn);
    await checkAccessibility();
    await shoot('overview-live');
    isOver = true;
    await traffic;

    // What the page says of the day is what the ledger says.
    await until(`document.querySelector('.bars')?.textContent.includes('bge-m3') === true`);
    while ((await rig.ask('GET', '/api/usage?by=day', undefined, 'viewer')).total.requests < sent) await wait(100);
    await page.getByText('24 h', { exact: true }).click();
    await until(`location.search === '?range=24h'`);
    await until(`${tileValue('Requests')} === '${sent}'`);
    await until(chartsAreDrawn);
    await checkAccessibility();
    await shoot('overview-24h');

    for (const range of ['1h', '7d', '30d']) {
      await go(`/?range=${range}&by=upstream&order=errors`);
      await until(`document.querySelector('.bars')?.textContent.includes('near') === true`);
      await until(`${tileValue('Requests')} === '${sent}'`);
    }
    await page.getByRole('button', { name: 'Requests: show as a table' }).click();
    assert.ok((await page.getByRole('row').count()) >= 30);

    await page.getByLabel('By', { exact: true }).selectOption('model');
    // Beside it the upstream may be said to be failing, with a link of its own.
    await page
      .locator('.bars')
      .getByRole('link', { name: /failing/ })
      .first()
      .click();
    await until(`location.pathname === '/requests' && location.search.includes('model=failing')`);
  },
);

testInBrowser(
  'a fresh gateway shows three steps, whose command works as pasted, and which go as they are done',
  async (t) => {
    const rig = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
    const { page, open, until, shoot, checkAccessibility } = await rig.signIn();
    await open('/');
    await page.getByRole('heading', { name: 'Three steps to the first answer' }).waitFor();
    await page.getByLabel('Your key', { exact: true }).fill(rig.gateway.key);
    await until(`document.querySelector('.snippet-code')?.textContent.includes('http://127.0.0.1:') === true`);
    await checkAccessibility();
    await page.getByLabel('Your key', { exact: true }).fill('');
    await shoot('overview-fresh');
    await page.getByLabel('Your key', { exact: true }).fill(rig.gateway.key);
    const command = (await page.locator('.snippet-code').textContent()) ?? '';
    const { stdout } = await run('sh', ['-c', `${command} -s -o answer -w '%{http_code}'`], {
      cwd: rig.gateway.directory,
    });
    assert.equal(stdout, '200');
    await page.getByText('It came, and was answered.').waitFor();
    assert.equal(await page.getByRole('img', { name: 'Done' }).count(), 2);
    await page.getByRole('button', { name: 'Hide this' }).click();
    assert.equal(await page.getByRole('heading', { name: 'Three steps' }).count(), 0);
  },
);

async function hide({ page }: Visitor, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

testInBrowser(
  'out of sight it follows nothing, and goes on where it was; a lost connection is said and made again',
  async (t) => {
    const rig = await openConsole(t, { config: await upstreamConfig(t) });
    const visitor = await rig.signIn('viewer');
    const { page, open, until, allow } = visitor;
    const opened: string[] = [];
    const ended: string[] = [];
    const note = (list: string[]) => (request: { url(): string }) => {
      if (request.url().endsWith('/api/live')) list.push(request.url());
    };
    page.on('request', note(opened));
    page.on('requestfailed', note(ended));
    await open('/');
    await until(`${words} === 'Following'`);
    assert.equal(opened.length, 1);

    await hide(visitor, true);
    while (ended.length < 1) await wait(20);
    await hide(visitor, false);
    await until(`${words} === 'Following'`);
    assert.equal(opened.length, 2);

    // Paused, it stands still.
    await send(rig, 'bge-m3', 5);
    await until(`Number.parseFloat(${tileValue('Requests a second')}) > 0`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await until(`${words} === 'Paused'`);
    const before = await page.evaluate(tileValue('Requests a second'));
    await wait(2_500);
    assert.equal(await page.evaluate(tileValue('Requests a second')), before);
    await page.getByRole('button', { name: 'Go on' }).click();
    await until(`${words} === 'Following'`);

    allow(/Failed to load resource/);
    await page.route('**/api/live', (route) => route.abort());
    await hide(visitor, true);
    await hide(visitor, false);
    await until(`${words}.startsWith('Connection lost')`);
    await page.unroute('**/api/live');
    await until(`${words} === 'Following'`);
  },
);
