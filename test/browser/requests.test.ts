/** The Explorer and the audit log: what is narrowed, what comes live, one request over its time, what was used, and who changed what. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { ImportedRow } from '../../src/core/store/ledger.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type ConsoleRig, openConsole, testInBrowser, testOnEachStore } from '../support/console/browser.ts';
import type { GatewayProcess } from '../support/gateways/gateway-process.ts';
import { imported, spreadRows } from '../support/ledger/ledger-rows.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const dayMs = 86_400_000;
const answer = { object: 'list', data: [{}], model: 'm', usage: { prompt_tokens: 7, total_tokens: 7 } };

/** A model whose first target refuses the connection. */
async function twoTargets(t: TestContext) {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, answer));
  t.after(() => upstream.close());
  return {
    upstreams: [
      { id: 'closed', family: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: 'key-of-the-closed-one' },
      { id: 'open', family: 'openai', base_url: `${upstream.url}/v1`, api_key: 'key-of-the-open-one' },
    ],
    models: [
      {
        id: 'bge-m3',
        operations: ['embeddings'],
        targets: [
          { upstream: 'closed', model: 'm' },
          { upstream: 'open', model: 'm', priority: 1 },
        ],
      },
    ],
  };
}

async function embed({ url, key }: GatewayProcess, requestId: string): Promise<void> {
  const response = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': requestId },
    body: JSON.stringify({ model: 'bge-m3', input: 'hello' }),
  });
  assert.equal(response.status, 200, await response.text());
}

/** Rows as if they had been served: straight into the store that the gateway works with. */
async function put({ gateway }: ConsoleRig, rows: readonly ImportedRow[]): Promise<void> {
  const store = await openStore('sqlite:postern.db', { cwd: gateway.directory });
  try {
    for (let from = 0; from < rows.length; from += 1_000) {
      await store.ledger.import(`test-${from}`, rows.slice(from, from + 1_000), { segment: 1, offset: 1 });
    }
  } finally {
    await store.close();
  }
}

const many = (rows: number): ImportedRow[] =>
  [
    ...spreadRows({
      rows,
      fromMs: Date.now() - 20 * dayMs,
      toMs: Date.now() - 60_000,
      keys: 8,
      projects: 3,
      models: 12,
      upstreams: 4,
    }),
  ].map((row) => ({ row, accounts: [] }));

const rowsOn = (page: Page) => page.locator('tbody tr.request-row');
const details = (page: Page) => page.getByRole('complementary');

testOnEachStore(
  'the live Explorer shows a new request within seconds, and its details show the retry on a time line',
  async (t, open) => {
    const rig = await open({ config: await twoTargets(t) });
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    await visitor.open('/explorer?range=30d');
    await page.getByText('No request yet').waitFor();
    await visitor.shoot('requests-empty');
    await page.getByRole('switch', { name: 'Live' }).click({ force: true });
    await page.getByText('Waiting for requests').waitFor();
    await page.getByText('Waiting for requests').scrollIntoViewIfNeeded();
    await embed(rig.gateway, 'first-of-mine');
    await rowsOn(page).first().waitFor();
    assert.equal(await rowsOn(page).count(), 1);

    // Under the pointer nothing moves: new rows are held back until asked for.
    await rowsOn(page).first().hover();
    await embed(rig.gateway, 'second-of-mine');
    await embed(rig.gateway, 'third-of-mine');
    await page.getByRole('button', { name: '2 new' }).waitFor();
    assert.equal(await rowsOn(page).count(), 1);
    await page.getByRole('button', { name: '2 new' }).click();
    await rowsOn(page).nth(2).waitFor();

    await page.getByLabel("Request ID, yours or the client's").fill('first-of-mine');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=first-of-mine/);
    await rowsOn(page).nth(1).waitFor({ state: 'detached' });
    await rowsOn(page).first().getByRole('link').click();
    await details(page).getByText('Answered with 200').waitFor();
    assert.match(page.url(), /[?&]id=[0-9a-f]{32}/);
    await details(page).getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('menuitem', { name: 'JavaScript' }).click();
    await details(page).getByText('await fetch(').waitFor();
    const lanes = details(page).locator('.time-line > li');
    assert.equal(await lanes.count(), 3);
    assert.match(await lanes.nth(1).innerText(), /closed could not be reached/);
    assert.equal(await lanes.nth(1).locator('.time-connect').count(), 1);
    assert.match(await lanes.nth(2).innerText(), /open answered \(200\)/);
    await details(page).getByText('first-of-mine').waitFor();
    await details(page).getByText('unknown', { exact: true }).waitFor();
    await visitor.shoot('requests-detail');
    await visitor.checkAccessibility();
    const address = page.url();
    await page.keyboard.press('Escape');
    await details(page).waitFor({ state: 'detached' });
    // A link to one request opens it for any member with access.
    await visitor.open(address);
    await details(page).getByText('Answered with 200').waitFor();
  },
);

testInBrowser(
  'the Explorer filters and pages 10,000 rows with its filters in the URL, and exports all rows as CSV',
  async (t) => {
    const rig = await openConsole(t);
    await rig.account('viewer');
    await put(rig, many(10_000));
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    await visitor.open('/explorer?range=30d');
    assert.equal(await rowsOn(page).count(), 50);
    // The keys go along the rows on the page, with one open at the side.
    await rowsOn(page).first().getByRole('link').click();
    await details(page)
      .getByText(/^Answered with|^The client|^Postern refused|^No upstream|broke off/)
      .first()
      .waitFor();
    const first = await details(page).getByRole('heading', { level: 2 }).textContent();
    await page.keyboard.press('j');
    await visitor.until(`document.querySelectorAll('tbody tr')[1]?.dataset.selected === 'true'`);
    await page.keyboard.press('k');
    await visitor.until(`document.querySelectorAll('tbody tr')[0]?.dataset.selected === 'true'`);
    await details(page)
      .getByRole('heading', { level: 2, name: first ?? '', exact: true })
      .waitFor();
    await page.keyboard.press('Escape');
    await visitor.shoot('requests');
    await visitor.checkAccessibility();
    const other = (row: string | null) =>
      `![null, '', ${JSON.stringify(row)}].includes(document.querySelector('tbody tr')?.textContent ?? null)`;
    const newest = await rowsOn(page).first().textContent();
    // Twice before the page is there.
    await page.getByRole('button', { name: 'Older' }).dblclick();
    await visitor.until(other(newest));
    assert.equal(await page.getByRole('button', { name: 'Newer' }).count(), 0);
    const second = page.url();
    const older = await rowsOn(page).first().textContent();
    await page.getByRole('button', { name: 'Older' }).click();
    await visitor.until(other(older));
    await page.getByRole('button', { name: 'Newer' }).click();
    await page.waitForURL(second);
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.waitForFunction(`!location.search.includes('before')`);
    await page.waitForFunction(`document.querySelector('tbody tr')?.textContent !== ''`);
    assert.equal(await rowsOn(page).count(), 50);

    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Failed', exact: true }).click();
    await page.getByRole('combobox', { name: 'Model' }).fill('model-1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/outcome=failed/);
    await page.waitForURL(/model=model-1/);
    await visitor.shoot('requests-filter');
    await visitor.checkAccessibility();
    await page.keyboard.press('Escape');
    await page.getByText('Outcome: Failed').waitFor();
    await page.waitForFunction(
      `[...document.querySelectorAll('tbody tr')].every((row) => /Failed|Broke off|Unknown end/.test(row.textContent))`,
    );
    const narrowed = page.url();
    await visitor.open(narrowed);
    await page.getByText('Model: model-1').waitFor();
    await page.getByRole('button', { name: 'Take away Outcome: Failed' }).click();
    await page.waitForFunction(`!location.search.includes('outcome')`);
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.waitForFunction(`location.search === '?range=30d'`);

    // What series do not know narrows the rows, and is said above the charts.
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('combobox', { name: 'Took at least, in ms' }).fill('20');
    await page.keyboard.press('Enter');
    await page.waitForURL(/minDurationMs=20/);
    await page.keyboard.press('Escape');
    await page.getByText('Took at least, in ms: 20').waitFor();
    await page.getByText('Not in figures and charts: Took at least, in ms').waitFor();
    await visitor.shoot('requests-filter-of-rows');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.waitForFunction(`location.search === '?range=30d'`);

    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /CSV/ }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'postern-requests.csv');
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    assert.equal(lines.length, 10_001);

    assert.ok((await page.locator('*').count()) < 3_000);
  },
);

testInBrowser(
  'Explorer charts match the rows, split by upstream, and a drag over a chart narrows charts and rows',
  async (t) => {
    const rig = await openConsole(t, { config: await twoTargets(t) });
    for (let sent = 0; sent < 3; sent += 1) await embed(rig.gateway, `request-${sent}`);
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    const figure = (label: string): string =>
      `[...document.querySelectorAll('.tile')].find((tile) => tile.textContent.startsWith(${JSON.stringify(label)}))?.children[1]?.textContent ?? ''`;
    const total = async (): Promise<number> => (await rig.ask('GET', '/api/series')).total.figures.requests;
    while ((await total()) < 3) await page.waitForTimeout(100);
    await visitor.open('/explorer?range=1h&by=upstream&heat=1');
    await visitor.until(`${figure('Requests')} === '3'`);
    assert.equal(await rowsOn(page).count(), 3);
    await page.getByRole('rowheader', { name: 'open' }).waitFor();
    await page.getByText(/Times are in /).waitFor();
    await visitor.shoot('explorer-split');
    await visitor.checkAccessibility();
    await page.getByRole('button', { name: 'open', exact: true }).first().click();
    await page.waitForURL(/upstream=open/);
    await page.getByLabel('Split', { exact: true }).selectOption('');
    await visitor.until(`${figure('Requests')} === '3'`);
    await visitor.shoot('explorer-heat');
    await visitor.checkAccessibility();
    const chart = page.getByRole('region', { name: 'Rate' }).locator('.drawing');
    const box = await chart.boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    await page.getByText('No request fits').waitFor();
    await page.getByRole('button', { name: 'Zoom out' }).click();
  },
);

testInBrowser(
  'error codes show their share of all requests, and failed attempts are hidden where their count is unknown',
  async (t) => {
    const rig = await openConsole(t, { config: await twoTargets(t) });
    const failed = [
      { upstream: 'open', model: 'm', credential: undefined, outcome: 'failed', detail: 503, durationMs: 5 },
    ];
    const refusedThere = [{ ...failed[0], upstream: 'closed' }];
    const rowAt = (at: number): ImportedRow =>
      imported({
        ...{
          startedAtMs: Date.now() - 120_000 - at * 1_000,
          key: 'dev',
          model: 'bge-m3',
          upstream: 'open',
          attempts: 1,
        },
        ...(at % 4 === 0 ? { outcome: 'error', status: 503, tries: failed } : {}),
        ...(at % 4 === 1 ? { attempts: 2, tries: refusedThere } : {}),
      } as Parameters<typeof imported>[0]);
    await put(
      rig,
      Array.from({ length: 40 }, (_, at) => rowAt(at)),
    );
    const { page, open } = await rig.signIn('viewer');
    await open('/explorer?range=1h&by=code');
    const lines = page.getByRole('row').filter({ hasText: '503' });
    await lines
      .first()
      .getByText(/^10 \(25\s%\)$/)
      .waitFor();
    await page.getByRole('columnheader', { name: 'Error code' }).waitFor();
    await page.getByRole('rowheader', { name: 'No error' }).waitFor();
    await page.getByRole('button', { name: 'Errors: show as a table' }).click();
    const cells = await page.getByRole('region', { name: 'Errors', exact: true }).locator('tbody').innerText();
    assert.doesNotMatch(cells, /100\s%/);
    const attempts = page.getByRole('region', { name: 'Failed attempts' });
    await open('/explorer?range=1h');
    await attempts.getByRole('button', { name: 'closed' }).waitFor();
    // Narrowed to how requests ended, series do not know their attempts: nothing says that there were none.
    await open('/explorer?range=1h&outcome=failed');
    await page.getByRole('region', { name: 'How requests ended' }).waitFor();
    assert.equal(await attempts.count(), 0);
    await open('/explorer?range=1h&key=dev');
    const ofKey = ['closed\nfailed, 503\n10', 'open\nfailed, 503\n10'];
    await attempts.getByRole('listitem').first().waitFor();
    assert.deepEqual(await attempts.getByRole('listitem').allInnerTexts(), ofKey);
  },
);

testInBrowser(
  "the cost view lists each model's cached tokens, reasoning tokens and images, and exports CSV",
  async (t) => {
    const rig = await openConsole(t);
    await rig.account('viewer');
    const startedAtMs = Date.now() - dayMs;
    await put(rig, [
      imported({
        startedAtMs,
        model: 'painter',
        costNanos: 2_000_000_000,
        units: { images: 12, imageSize: '1024x1024' },
      }),
      imported({ startedAtMs, model: 'thinker', cachedTokens: 512, units: { reasoningTokens: 2_048 } }),
    ]);
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    await visitor.open('/requests?view=usage&range=7d');
    await page.getByRole('rowheader', { name: 'painter' }).waitFor();
    await page.getByText('512 cached tokens, 2,048 reasoning tokens, 12 images').waitFor();
    await visitor.shoot('explorer-cost');
    await visitor.checkAccessibility();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    assert.match(await readFile(await download.path(), 'utf8'), /painter/);
  },
);

testInBrowser("HTML in any field of a request's row, attempts or captured bodies is shown as text", async (t) => {
  const rig = await openConsole(t);
  const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
  const row = imported({
    startedAtMs: Date.now() - 1_000,
    model: evil,
    project: evil,
    upstream: `"><svg onload=window.hacked=1>`,
    upstreamModel: evil,
    clientRequestId: `'-alert(1)-'${evil}`,
    outcome: 'error',
    status: 502,
    error: evil,
    node: evil,
    cache: evil,
    clientAddress: evil,
    attempts: 2,
    tries: [
      { upstream: evil, model: evil, credential: evil, outcome: evil, detail: evil, durationMs: 3 },
      {
        upstream: 'javascript:alert(1)',
        model: 'm',
        credential: undefined,
        outcome: 'failed',
        detail: evil,
        durationMs: 4,
      },
    ],
  });
  const capture = { request: evil, response: `{"a":"${'</script>'}"}`, expiresAtMs: Date.now() + dayMs };
  await put(rig, [{ ...row, capture }]);
  const visitor = await rig.signIn('admin');
  const { page } = visitor;
  await visitor.open('/explorer');
  await rowsOn(page).first().getByRole('link').click();
  await details(page).getByText('Facts', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show the bodies' }).click();
  await details(page).getByText('onerror', { exact: false }).first().waitFor();
  await visitor.shoot('requests-hostile');
  await visitor.checkAccessibility();
  for (const path of [
    `/explorer?model=${encodeURIComponent(evil)}&q=${encodeURIComponent(evil)}`,
    '/explorer?view=cost&by=model',
  ]) {
    await visitor.open(path);
  }
  // Looking at the bodies changes nothing, and is in the audit log all the same.
  await visitor.open('/audit');
  await page.getByText('read the bodies of request').first().waitFor();
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assert.equal(await page.locator('img[src="x"], svg[onload]').count(), 0);
});

testInBrowser(
  'the audit log shows each change before and after, filters by actor and action, and is for admins only',
  async (t) => {
    const rig = await openConsole(t);
    await rig.account('viewer');
    const store = await openStore('sqlite:postern.db', { cwd: rig.gateway.directory });
    const actor = 'console: ada@example.com';
    await store.audit.add({
      actor,
      action: 'model.put',
      subject: 'bge-m3',
      before: { visible: true, targets: [{ upstream: 'near', weight: 1 }], operations: ['embeddings'] },
      after: { visible: false, targets: [{ upstream: '<b>far</b>', weight: 1 }], operations: ['embeddings', 'rerank'] },
    });
    const canary = 'canary:["bge-m3","near","BAAI/bge-m3"]';
    const setting = { actor: 'canary', action: 'setting.set', subject: canary };
    await store.audit.add({ ...setting, before: null, after: { [canary]: { vectors: ['AA=='] } } });
    await store.close();
    const visitor = await rig.signIn('admin');
    const { page } = visitor;
    const { id } = await rig.ask('POST', '/api/keys', { name: 'Nightly import' });
    await visitor.open('/audit');
    await page.getByRole('button', { name: /owner@example\.com created the key Nightly import/ }).waitFor();
    assert.equal(await page.getByText(id).count(), 0);
    await page.getByRole('button', { name: /canary stored the reference vectors of bge-m3 at near/ }).click();
    await page.getByRole('row', { name: /^vectors/ }).waitFor();
    await page.getByRole('button', { name: /ada@example\.com changed the model bge-m3/ }).click();
    const row = page.getByRole('row', { name: /targets\[0\]\.upstream/ });
    await row.waitFor();
    assert.match(await row.innerText(), /− near\s+\+ <b>far<\/b>/);
    await visitor.shoot('requests-changes');
    await visitor.checkAccessibility();
    await page.getByRole('textbox', { name: 'Who' }).fill('ada@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /created the key/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /changed the model bge-m3/ }).waitFor();
    await page.getByRole('combobox', { name: 'Action begins with' }).fill('nothing.');
    await page.keyboard.press('Enter');
    await page.getByText('No change fits').waitFor();

    const viewer = await rig.signIn('viewer');
    await viewer.open('/audit');
    await viewer.page.getByRole('heading', { name: 'Audit log: only for the role admin' }).waitFor();
    assert.equal(await viewer.page.getByRole('link', { name: 'Audit log' }).count(), 0);
  },
);
