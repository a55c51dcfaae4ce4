/** The page Overview: real traffic in its live numbers, longer stretches, and what it does out of sight. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type ConsoleRig,
  openConsole,
  testInBrowser,
  testOnEachStore,
  type Visitor,
} from '../support/console/browser.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

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

const words = `document.querySelector('.live-words')?.textContent ?? ''`;

testOnEachStore(
  'the Overview shows current failures and cost, and links from a failing upstream to its failed requests',
  async (t, open) => {
    const rig = await open({ config: await upstreamConfig(t) });
    const { page, open: go, until, shoot, checkAccessibility } = await rig.signIn('viewer');
    await send(rig, 'bge-m3', 5);
    await send(rig, 'failing', 30);
    await go('/');
    await until(`Number.parseFloat(${tileValue('Failed')}) > 50`);
    await until(`/[1-9]/.test(${tileValue('Spent today')})`);
    const upstreams = page.getByRole('region', { name: 'Upstreams' });
    await upstreams.getByText('Failing').waitFor();
    await checkAccessibility();
    await shoot('overview-now');
    await upstreams.getByRole('link', { name: 'Explore' }).click();
    await until(`location.pathname === '/explorer' && location.search.includes('upstream=near')`);
    await page.getByRole('region', { name: 'How requests ended' }).getByRole('button', { name: '500' }).click();
    await page.waitForURL(/code=500/);
    await until(`document.querySelectorAll('tbody tr.request-row').length === 30`);
    // A page says one thing of a target: its state stands above, and no count that others share stands beside it.
    await go('/upstreams/near');
    await page.getByRole('region', { name: 'State' }).getByText('Failing', { exact: true }).first().waitFor();
    await page.getByRole('table', { name: 'Models that use it' }).getByRole('row').nth(1).waitFor();
    assert.equal(await page.getByRole('table', { name: 'Models that use it' }).getByText('Healthy').count(), 0);
    await go('/models/bge-m3');
    await page.getByRole('heading', { name: 'Targets' }).waitFor();
    assert.equal(await page.getByText(/calls? in 5 min/).count(), 0);
  },
);

testInBrowser("an upstream's page shows its state, traffic and changes, and can undo a change", async (t) => {
  const config = await upstreamConfig(t);
  const rig = await openConsole(t, { config });
  const [first] = config.upstreams as [{ readonly base_url: string }];
  const document = { family: 'openai', base_url: first.base_url, api_key: 'sk-own', limits: { concurrency: 5 } };
  const admin = await rig.account('admin');
  await admin.ask('PUT', '/api/upstreams/own', document, { 'if-none-match': '*' });
  await admin.ask('PUT', '/api/upstreams/own', { ...document, limits: { concurrency: 9 } }, { 'if-match': '"1"' });
  const { page, open, until, shoot, checkAccessibility } = await rig.signIn('admin');
  await open('/upstreams?upstream=own');
  await until(`location.pathname === '/upstreams/own'`);
  await page.getByRole('heading', { name: 'own', level: 1 }).waitFor();
  await page.getByRole('region', { name: 'Traffic' }).getByText('Requests', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Changes' }).getByRole('button').first().click();
  await page.getByRole('row', { name: /limits\.concurrency/ }).waitFor();
  await shoot('upstream-page');
  await checkAccessibility();
  await page.getByRole('button', { name: 'Restore what was before' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('own is as it was before that change.').waitFor();
  assert.equal((await rig.ask('GET', '/api/upstreams/own')).document.limits.concurrency, 5);
});

testInBrowser("the alerts page shows rules and channels, and the playground's chat has its own URL", async (t) => {
  const rig = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
  const { page, open, shoot, checkAccessibility } = await rig.signIn('admin');
  await open('/alerts');
  await page.getByRole('region', { name: 'Rules' }).getByText('Reload refused').waitFor();
  await page.getByRole('region', { name: 'Channels' }).getByText('There is no channel').waitFor();
  await shoot('alerts');
  await checkAccessibility();
  await open('/playground/chat');
  await page.getByRole('tab', { name: 'Chat', selected: true }).waitFor();
  await page.getByRole('button', { name: 'History of this tab' }).waitFor();
});

async function hide({ page }: Visitor, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

testInBrowser(
  "the Explorer's live view stops in a hidden tab, can be paused, and reports and repairs a lost connection",
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
    await open('/explorer?range=5m');
    await until(`${words} === 'Following'`);
    assert.equal(opened.length, 1);

    await hide(visitor, true);
    while (ended.length < 1) await wait(20);
    await hide(visitor, false);
    // The words are those from before until it asks again.
    while (opened.length < 2) await wait(20);
    await until(`${words} === 'Following'`);
    assert.equal(opened.length, 2);

    // Paused, it stands still.
    const drawn = `document.querySelector('[aria-label="Rate"] .drawing')?.getAttribute('aria-label') ?? ''`;
    await send(rig, 'bge-m3', 5);
    await until(`/Succeeded (?!0,)/.test(${drawn})`);
    await until(`${tileValue('Requests')} === '5'`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await until(`${words} === 'Paused'`);
    const before = await page.evaluate(drawn);
    const counted = await page.evaluate(tileValue('Requests'));
    await send(rig, 'bge-m3', 5);
    for (let answers = 0; answers < 2; answers += 1)
      await page.waitForResponse((response) => response.url().includes('/api/series'));
    await wait(500);
    assert.equal(await page.evaluate(drawn), before);
    assert.equal(await page.evaluate(tileValue('Requests')), counted);
    await page.getByRole('button', { name: 'Go on' }).click();
    await until(`${words} === 'Following'`);
    await until(`${tileValue('Requests')} !== ${JSON.stringify(counted)}`);

    allow(/Failed to load resource/);
    await page.route('**/api/live', (route) => route.abort());
    await hide(visitor, true);
    await hide(visitor, false);
    await until(`${words}.startsWith('Connection lost')`);
    await page.unroute('**/api/live');
    await until(`${words} === 'Following'`);

    // Opened anew, it begins with the minutes before.
    await open('/explorer?range=5m');
    await page.getByText('by minute where nobody followed').waitFor();
    await page.getByRole('button', { name: 'Rate: show as a table' }).click();
    const rate = page.getByRole('region', { name: 'Rate', exact: true });
    assert.doesNotMatch(await rate.locator('tbody').innerText(), /–/);
    await page.getByRole('region', { name: 'Errors', exact: true }).waitFor();
  },
);
