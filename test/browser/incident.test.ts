/**
 * A staged incident: a week of ordinary traffic, then an upstream that fails 30 %, one that is three times slower, a key out of
 * budget, and a model that drifted. The script keeps a log of what it did; the console is compared with it and with the ledger.
 */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { formatDuration, formatMoney, formatPercent, formatRate } from '../../console/src/parts/words/format.ts';
import type { LedgerRow, Series } from '../../src/admin/contract.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type ConsoleRig, openConsole, testInBrowser } from '../support/console/browser.ts';
import { imported } from '../support/ledger/ledger-rows.ts';
import { patientMs } from '../support/time/patience.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const secret = 'key-of-the-incident-with-enough-characters';
const spenderSecret = 'key-of-the-spender-with-enough-characters';
const services = ['steady', 'flaky', 'slow'] as const;
type Service = (typeof services)[number];
/** Of the week before; the slow one takes three times the longest of them. */
const usualMs = { least: 200, most: 500 };
const slowMs = 3 * usualMs.most;
const costOfOne = 0.04;

interface LogLine {
  readonly service: Service;
  readonly outcome: 'succeeded' | 'failed';
  readonly ms: number;
}

interface Staged {
  readonly rig: ConsoleRig;
  readonly log: LogLine[];
  /** Of the key out of budget. */
  readonly refused: number;
}

async function stage(t: TestContext): Promise<Staged> {
  let isDrifted = false;
  let calls = 0;
  const upstream = await startFakeUpstream(async (request, reply) => {
    const { model, input } = JSON.parse(request.body.toString());
    if (model === 'slow') await wait(slowMs);
    if (model === 'flaky' && [0, 3, 6].includes(calls++ % 10)) return reply.json(500, { error: { message: 'broken' } });
    const embedding = model === 'drifting' && isDrifted ? [0, 1] : [1, 0];
    const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding }));
    return reply.json(200, { object: 'list', data, model, usage: { prompt_tokens: 40, total_tokens: 40 } });
  });
  t.after(() => upstream.close());
  const base = { operations: ['embeddings'], price: { input: 1000 } };
  const rig = await openConsole(t, {
    config: {
      upstreams: [...services, 'drifting'].map((id) => ({
        id,
        family: 'openai',
        base_url: upstream.url,
        api_key: 'sk-u',
      })),
      models: [
        ...services.map((id) => ({ ...base, id, retry: { attempts: 1 }, targets: [{ upstream: id }] })),
        {
          ...{ ...base, id: 'drifting', space: 'd', targets: [{ upstream: 'drifting' }] },
          canary: { texts: ['one', 'two'], every: '1s' },
        },
      ],
      keys: [
        { id: 'incident', secret },
        { id: 'spender', secret: spenderSecret, budgets: [{ every: 'day', amount: costOfOne }] },
      ],
    },
  });
  const log: LogLine[] = [];
  await addWeek(rig, log);
  for (const service of services) {
    const asked = Array.from({ length: 40 }, () => call(rig, service, secret));
    for (const { ok, ms } of await Promise.all(asked)) log.push({ service, outcome: ok ? 'succeeded' : 'failed', ms });
  }
  const ofSpender = [];
  for (let at = 0; at < 6; at += 1) ofSpender.push(await call(rig, 'steady', spenderSecret));
  isDrifted = true;
  return { rig, log, refused: ofSpender.filter(({ ok }) => !ok).length };
}

/** Rows as if they had been served, straight into the store that the gateway works with. */
async function addWeek({ gateway }: ConsoleRig, log: LogLine[]): Promise<void> {
  const rows = services.flatMap((service) =>
    Array.from({ length: 400 }, (_, at) => {
      const ms = usualMs.least + ((at * 37) % (usualMs.most - usualMs.least));
      log.push({ service, outcome: 'succeeded', ms });
      const startedAtMs = Date.now() - 20 * minuteMs - (at * 6 * dayMs) / 400;
      const where = { key: 'incident', model: service, upstream: service, upstreamModel: service };
      return imported({ ...where, startedAtMs, durationMs: ms, costNanos: 1_000_000 });
    }),
  );
  const store = await openStore('sqlite:postern.db', { cwd: gateway.directory });
  try {
    await store.ledger.import('week', rows, { segment: 1, offset: 1 });
  } finally {
    await store.close();
  }
}

/** The time is the answer's own duration in the gateway and at the upstream: a busy machine adds nothing to it. */
async function call({ gateway }: ConsoleRig, model: string, key: string): Promise<{ ok: boolean; ms: number }> {
  const response = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'x' }),
  });
  await response.arrayBuffer();
  const spans = (response.headers.get('server-timing') ?? '').matchAll(/dur=([\d.]+)/g);
  return { ok: response.ok, ms: [...spans].reduce((sum, [, ms]) => sum + Number(ms), 0) };
}

/** The value below which that share of the others is. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

const near = (value: number, wanted: number, share: number, what: string): void =>
  assert.ok(Math.abs(value - wanted) <= share * wanted, `${what}: ${value}, and should be ${wanted}`);

/** Every row of a key, the oldest first. */
async function rowsOf({ ask }: ConsoleRig, key: string): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for (let before = ''; ; ) {
    const page = await ask('GET', `/api/ledger?key=${key}&limit=200${before === '' ? '' : `&before=${before}`}`);
    rows.push(...page.items);
    if (page.next === null) return rows.toReversed();
    before = page.next;
  }
}

async function becomes(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + patientMs(20_000);
  while (!(await isSo())) {
    if (performance.now() > deadlineMs) throw new Error(`it did not come to ${what}`);
    await wait(200);
  }
}

/** Clicks from the Overview on. */
function createClicks(page: Page, open: (path: string) => Promise<void>) {
  let count = 0;
  return {
    async begin(): Promise<void> {
      count = 0;
      await open('/');
    },
    async click(target: Locator): Promise<void> {
      count += 1;
      await target.click();
    },
    async explains(shown: Locator): Promise<void> {
      await shown.first().waitFor();
      assert.ok(count <= 3, `it took ${count} clicks on ${page.url()}`);
    },
  };
}

testInBrowser(
  'the Overview leads to the cause of a failing upstream, slow upstream, spent budget or drift in three clicks',
  async (t) => {
    const { rig, log, refused } = await stage(t);
    await becomes('all rows', async () => {
      const [own, spender] = [await rowsOf(rig, 'incident'), await rowsOf(rig, 'spender')];
      return own.length === log.length && spender.length === 6;
    });
    await becomes('a drift', async () =>
      (await rig.ask('GET', '/api/health')).agreements.some((one: { hasChanged: boolean }) => one.hasChanged),
    );
    const { page, open, until, shoot } = await rig.signIn('viewer');
    await page.setViewportSize({ width: 1440, height: 900 });
    const { begin, click, explains } = createClicks(page, open);
    const upstreams = page.getByRole('region', { name: 'Upstreams' });
    const lineOf = (id: string) =>
      upstreams.getByRole('listitem').filter({ has: page.getByRole('link', { name: id, exact: true }) });

    await begin();
    await explains(lineOf('flaky').getByText('30 % of calls fail, mostly 500'));
    await shoot('incident-overview');
    await click(lineOf('flaky').getByRole('link', { name: 'Explore' }));
    await click(page.getByRole('region', { name: 'How requests ended' }).getByRole('button', { name: '500' }));
    await until(`document.querySelectorAll('tbody tr.request-row').length === 12`);
    await click(page.locator('tbody tr.request-row').first());
    await explains(page.getByText('The upstream flaky answered with 500', { exact: false }));

    await begin();
    await explains(lineOf('slow').getByText(/^p95 is [\d.]+ s, against 4\d\d ms over the week before$/));
    await click(lineOf('slow').getByRole('link', { name: 'Explore' }));
    await explains(page.locator('.tile', { hasText: 'p95' }).getByText(/^[\d.]+ s$/));

    await begin();
    await click(page.getByRole('region', { name: 'Near a budget' }).getByRole('link', { name: 'spender' }));
    await explains(page.getByText(/\$0\.04 of \$0\.04/));

    await begin();
    await click(page.getByRole('region', { name: 'Drift and shadow traffic' }).getByRole('link', { name: 'drifting' }));
    await explains(page.getByText(/has changed|has another model|other vectors/i));

    // The script's steps, the ledger's rows, and the series.
    const rows = await rowsOf(rig, 'incident');
    const range = `from=${new Date(Date.now() - 7 * dayMs).toISOString()}`;
    const total = async (more: string) => (await rig.ask('GET', `/api/series?${range}&${more}`)).total.figures;
    const all = await total('key=incident');
    assert.deepEqual(
      [all.requests, all.succeeded, all.failed, all.refused],
      [log.length, log.filter(({ outcome }) => outcome === 'succeeded').length, 12, 0],
    );
    near(
      all.duration.p95,
      quantile(
        log.map(({ ms }) => ms),
        0.95,
      ),
      0.02,
      'p95 of all',
    );
    near(
      all.duration.p95,
      quantile(
        rows.map(({ durationMs }) => durationMs),
        0.95,
      ),
      0.02,
      'p95 of the rows',
    );
    for (const service of services) {
      const own = log.filter((line) => line.service === service);
      const figures = await total(`key=incident&upstream=${service}`);
      assert.equal(figures.requests, own.length);
      near(
        figures.duration.p95,
        quantile(
          own.map(({ ms }) => ms),
          0.95,
        ),
        0.02,
        `p95 of ${service}`,
      );
    }
    const spent = await total('key=spender');
    assert.deepEqual([spent.requests, spent.refused], [6, refused]);
    assert.ok(refused >= 4 && refused < 6, `${refused} were refused`);

    await checkCharts(page, rows, open);
  },
);

/** The four charts of a week as their tables have them, and the heat map, against sums over the rows. */
async function checkCharts(
  page: Page,
  rows: readonly LedgerRow[],
  open: (path: string) => Promise<void>,
): Promise<void> {
  const answered = page.waitForResponse((response) => /\/api\/series\?.*key=incident/.test(response.url()));
  await open('/explorer?range=7d&key=incident&compare=none');
  const answer: Series = await (await answered).json();
  const pointOf = ({ startedAt }: LedgerRow): number =>
    answer.times.findLastIndex((time) => Date.parse(time) <= Date.parse(startedAt));
  const steps = answer.times.map((_, at) => rows.filter((row) => pointOf(row) === at));
  const count = (outcome: string) => steps.map((step) => step.filter((row) => row.outcome === outcome).length);
  const { points } = answer.total;
  assert.deepEqual(
    points.requests,
    steps.map(({ length }) => length),
  );
  assert.deepEqual([points.succeeded, points.failed], [count('ok'), count('error')]);
  const costs = steps.map((step) => step.reduce((sum, { cost }) => sum + Number(cost ?? 0), 0));
  for (const [at, cost] of costs.entries()) near(points.cost[at] ?? 0, cost, 1e-6, `cost of point ${at}`);
  for (const [at, step] of steps.entries()) {
    const ms = step.map(({ durationMs }) => durationMs);
    if (ms.length > 0) near(points.p95[at] ?? 0, quantile(ms, 0.95), 0.02, `p95 of point ${at}`);
  }

  const table = async (title: string): Promise<string[][]> => {
    await page.getByRole('button', { name: `${title}: show as a table` }).click();
    const lines = page.getByRole('region', { name: title, exact: true }).locator('tbody tr');
    await lines.first().waitFor();
    const texts = await lines.allInnerTexts();
    return texts
      .map((text) =>
        text
          .split('\t')
          .slice(1)
          .map((cell) => cell.trim()),
      )
      .toReversed();
  };
  assert.deepEqual(
    await table('Errors'),
    steps.map((step, at) => {
      const share = step.length === 0 ? '–' : formatPercent((count('error')[at] ?? 0) / step.length);
      return [share, share];
    }),
  );
  assert.deepEqual(
    await table('Cost'),
    costs.map((cost) => [formatMoney(cost)]),
  );
  const time = (ms: number | null | undefined): string => (ms === null || ms === undefined ? '–' : formatDuration(ms));
  assert.deepEqual(
    await table('Latency'),
    steps.map((_, at) => [time(points.p50[at]), time(points.p95[at]), time(points.p99[at])]),
  );
  // The first and the last point are cut short, and by how much depends on when it is drawn.
  const about = (await page.getByRole('region', { name: 'Rate', exact: true }).textContent()) ?? '';
  const unitMs = about.includes('an hour') ? 60 * minuteMs : about.includes('a minute') ? minuteMs : 1_000;
  const rates = (await table('Rate')).map(([succeeded]) => succeeded).slice(1, -1);
  const wanted = count('ok').map((each) => formatRate((each * unitMs) / answer.stepMs));
  assert.deepEqual(rates, wanted.slice(1, -1));

  const heated = page.waitForResponse((response) => /\/api\/series\?.*heatmap=true/.test(response.url()));
  await page.getByRole('button', { name: 'Latency: show as a chart' }).click();
  await page.getByRole('button', { name: 'Heat map' }).click();
  const heat: Series = await (await heated).json();
  assert.equal(
    heat.heatmap?.counts.flat().reduce((sum, each) => sum + each, 0),
    rows.length,
  );
}
