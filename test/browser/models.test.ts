/** The page Models: seen, added, hidden, changed by two at once, refused by field, and never run as script. */

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type Lasting, openConsole, shareConsole, testInBrowser, testOnEachStore } from '../support/console/browser.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const script = "\"><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";

const listed = ['bge-m3', 'bge-reranker-v2', 'text-small', 'text-large'];

/** Lists some models, and answers whatever it is asked. */
async function startUpstream(t: Lasting): Promise<string> {
  const upstream = await startFakeUpstream((request, reply) =>
    request.path === '/v1/models'
      ? reply.json(200, { object: 'list', data: listed.map((id) => ({ id, object: 'model' })) })
      : reply.json(200, {
          object: 'list',
          model: 'bge-m3',
          data: [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }],
          usage: { prompt_tokens: 5, total_tokens: 5 },
        }),
  );
  t.after(() => upstream.close());
  return `${upstream.url}/v1`;
}

function configuration(baseUrl: string) {
  return {
    upstreams: [
      { id: 'ours', family: 'openai', base_url: baseUrl, api_key: 'sk-0123456789' },
      { id: 'local', family: 'local' },
    ],
    models: [
      {
        id: 'of-the-file',
        aliases: ['filed'],
        operations: ['embeddings'],
        targets: [{ upstream: 'ours', model: 'text-small' }],
      },
    ],
  };
}

/** For tests of models that no other one touches. */
const openShared = shareConsole(async (file) => ({ config: configuration(await startUpstream(file)) }));

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const upstreamField = (page: Page) => drawer(page).getByRole('combobox', { name: 'Upstream' });
const drawer = (page: Page) => page.locator('aside, .subject');

testOnEachStore(
  "models are added from an upstream's own list, then tested, hidden, shown again and deleted",
  async (t, open) => {
    const rig = await open({ config: configuration(await startUpstream(t)) });
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    await visitor.open('/models');
    await row(page, 'of-the-file')
      .getByRole('img', { name: /^Declared in postern\.\w+:\d+$/ })
      .waitFor();
    assert.equal(await page.getByRole('switch', { name: 'Show of-the-file to clients' }).count(), 0);
    await row(page, 'of-the-file').getByText('Visible').waitFor();
    // Also those within a tooltip, which gives them a class of its own.
    assert.equal(await page.locator('.mantine-Badge-root:not(.plain-badge)').count(), 0, 'badges of another look');
    await visitor.shoot('models');
    await visitor.checkAccessibility();

    await page.getByRole('button', { name: 'Add models' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add models' });
    await dialog
      .getByRole('combobox', { name: 'Upstream' })
      .or(dialog.getByLabel('Upstream', { exact: true }))
      .first()
      .click();
    await page.getByRole('option', { name: /^ours/ }).click();
    await dialog.getByRole('checkbox', { name: 'bge-m3' }).check();
    await dialog.getByRole('checkbox', { name: 'bge-reranker-v2' }).check();
    await dialog.getByLabel('Name for clients of bge-m3').fill('org/bge-m3');
    await visitor.shoot('models-add');
    await visitor.checkAccessibility();
    await dialog.getByRole('button', { name: 'Add 2 models' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row(page, 'org/bge-m3').waitFor();
    await row(page, 'bge-reranker-v2').waitFor();

    await page.getByRole('link', { name: 'org/bge-m3', exact: true }).click();
    await drawer(page).getByRole('heading', { name: 'org/bge-m3' }).waitFor();
    await drawer(page).getByText('as bge-m3', { exact: true }).waitFor();
    // Its name shows that it makes embeddings only: there is nothing to choose.
    assert.equal(await drawer(page).getByLabel('What to test').count(), 0);
    const send = drawer(page).getByRole('button', { name: 'Send a test request' });
    await send.click();
    await drawer(page).getByText('It answers').waitFor();
    await drawer(page).getByText('"embedding"').waitFor();
    await visitor.shoot('models-details');
    await visitor.checkAccessibility();

    await drawer(page).getByRole('switch').click({ force: true });
    await page.getByText('org/bge-m3 is hidden from clients now.').waitFor();
    assert.equal((await rig.ask('GET', '/api/models/org%2Fbge-m3')).visible, false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    assert.equal((await rig.ask('GET', '/api/models/org%2Fbge-m3')).visible, true);

    await drawer(page).getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete org/bge-m3?' });
    await question.getByText('model not found').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await row(page, 'org/bge-m3').waitFor({ state: 'detached' });
  },
);

testInBrowser(
  "the time since a model's last change is calculated when its page is opened, not when the list was loaded",
  async (t) => {
    const rig = await openShared(t);
    const editor = await rig.account('editor');
    const document = { targets: [{ upstream: 'ours', model: 'bge-m3' }] };
    await editor.ask('PUT', '/api/models/made', document, { 'if-none-match': '*' });
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    await visitor.open('/models');
    await row(page, 'made').waitFor();
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 3_600_000; }');
    await page.getByRole('link', { name: 'made', exact: true }).click();
    await drawer(page).getByText('1 hour ago').waitFor();
  },
);

testInBrowser('the search text of the model list is kept in the URL, and restored after a reload', async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('viewer');
  const { page } = visitor;
  await visitor.open('/models');
  assert.equal(await page.getByRole('button', { name: 'Add models' }).isDisabled(), true);
  await page.getByRole('searchbox', { name: 'Search models' }).fill('BM25');
  await page.waitForURL(/q=BM25/);
  await row(page, 'local/bm25').waitFor();
  await row(page, 'of-the-file').waitFor({ state: 'detached' });
  await page.reload();
  await row(page, 'local/bm25').waitFor();
  assert.equal(await page.getByRole('searchbox', { name: 'Search models' }).inputValue(), 'BM25');
  // The space at the end of what is looked for stays: more words may follow it.
  const search = page.getByRole('searchbox', { name: 'Search models' });
  await search.fill('nothing ');
  await page.waitForURL(/q=nothing$/);
  await page.getByText('No model fits').waitFor();
  await search.press('End');
  await page.keyboard.type('like it');
  assert.equal(await search.inputValue(), 'nothing like it');
  await page.waitForURL(/q=nothing\+like\+it$/);
  await page.getByText('No model fits').waitFor();
  await visitor.shoot('models-none-fits');
  await page.getByRole('button', { name: 'Show all models' }).click();
  await row(page, 'of-the-file').waitFor();
  await visitor.open('/models?model=of-the-file');
  await drawer(page)
    .getByText(/declared in .*postern\.\w+, line \d+/)
    .waitFor();
});

testInBrowser(
  'saving a model that somebody else changed meanwhile shows the differences, and keeps the typed values',
  async (t) => {
    const rig = await openShared(t);
    const [first, second] = [await rig.signIn('editor'), await rig.signIn('owner')];
    await first.open('/models?model=local%2Fbm25');
    await drawer(first.page).getByRole('button', { name: 'Edit', exact: true }).click();
    await drawer(first.page).getByLabel('Other names').fill('first');
    await drawer(first.page).getByRole('button', { name: 'Save' }).click();
    await first.page.getByText('local/bm25 is added.').waitFor();

    for (const { page, open } of [first, second]) {
      await open('/models?model=local%2Fbm25');
      await drawer(page).getByRole('button', { name: 'Edit', exact: true }).click();
    }
    await drawer(first.page).getByLabel('Other names').fill('theirs');
    await drawer(first.page).getByRole('button', { name: 'Save' }).click();
    await first.page.getByText('local/bm25 is saved.').waitFor();

    second.allow(/412/);
    const { page } = second;
    await drawer(page).getByLabel('Other names').fill('mine');
    await drawer(page).getByRole('button', { name: 'Save' }).click();
    await drawer(page).getByText('It was changed in the meantime').waitFor();
    await drawer(page).getByRole('table', { name: 'What differs' }).getByText('"theirs"').waitFor();
    await second.shoot('models-conflict');
    await second.checkAccessibility();
    await drawer(page).getByRole('button', { name: 'Keep mine' }).click();
    await drawer(page).getByText('Saving now replaces what they wrote').waitFor();
    await drawer(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('local/bm25 is saved.').waitFor();
    assert.deepEqual((await rig.ask('GET', '/api/models/local%2Fbm25')).document.aliases, ['first', 'mine']);
  },
);

testInBrowser(
  'after a conflict, "Load theirs" also removes fields that the other person removed from the model',
  async (t) => {
    const rig = await openShared(t);
    const editor = await rig.account('editor');
    const visitor = await rig.signIn('owner');
    const { page } = visitor;
    const document = { operations: ['embeddings'], targets: [{ upstream: 'ours', model: 'bge-m3' }] };
    const noted = { ...document, metadata: { team: 'search' } };
    await editor.ask('PUT', '/api/models/lessened', noted, { 'if-none-match': '*' });
    await visitor.open('/models?model=lessened');
    await drawer(page).getByRole('button', { name: 'Edit', exact: true }).click();
    await drawer(page).getByLabel('Other names').fill('mine');
    await editor.ask('PUT', '/api/models/lessened', document, { 'if-match': '"1"' });
    visitor.allow(/412/);
    await drawer(page).getByRole('button', { name: 'Save' }).click();
    await drawer(page).getByRole('button', { name: 'Load theirs' }).click();
    await drawer(page).getByLabel('Other names').fill('new');
    await drawer(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('lessened is saved.').waitFor();
    assert.deepEqual((await rig.ask('GET', '/api/models/lessened')).document, {
      ...document,
      id: 'lessened',
      aliases: ['new'],
    });
  },
);

testInBrowser(
  'the form of a new model shows each fault at its field, and keeps its typed values across a page reload',
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    visitor.allow(/422/);
    await visitor.open('/models?model=');
    const form = drawer(page);
    await form.getByLabel('Name for clients').fill('righted');
    await upstreamField(page).fill('nobody');
    await form.getByLabel('Its name there').fill('m*');
    await form.getByRole('button', { name: /^Price/ }).click();
    await form.getByRole('button', { name: 'Add the model' }).click();
    await form.getByText(/unknown upstream "nobody"/).waitFor();
    assert.match((await upstreamField(page).getAttribute('aria-invalid')) ?? '', /true/);
    await form.getByText(/holds a \*/).waitFor();
    await visitor.shoot('models-faults');
    await visitor.checkAccessibility();

    await page.reload();
    await form.getByText('What you typed before is here again.').waitFor();
    assert.equal(await form.getByLabel('Its name there').inputValue(), 'm*');
    await upstreamField(page).fill('ours');
    await form.getByLabel('Its name there').fill('text-large');
    await form.getByRole('button', { name: 'Add the model' }).click();
    await page.getByText('righted is added.').waitFor();
    await form.getByRole('heading', { name: 'righted', exact: true }).waitFor();
  },
);

testInBrowser(
  'the form sets and unsets the model option that asks the upstream for the usage of streams',
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    const form = drawer(page);
    const section = form.getByRole('button', { name: /^Calling/ });
    const counted = form.getByRole('checkbox', { name: /counted whose clients do not ask/ });
    const written = async () => (await rig.ask('GET', '/api/models/counted')).document.usage;
    await visitor.open('/models?model=');
    await form.getByLabel('Name for clients').fill('counted');
    await upstreamField(page).fill('ours');
    await form.getByLabel('Its name there').fill('text-large');
    await section.click();
    await counted.check();
    await visitor.shoot('models-calling');
    await visitor.checkAccessibility();
    await form.getByRole('button', { name: 'Add the model' }).click();
    await page.getByText('counted is added.').waitFor();
    assert.equal(await written(), 'ask');

    await form.getByRole('button', { name: 'Edit', exact: true }).click();
    await section.click();
    assert.equal(await counted.isChecked(), true);
    await counted.uncheck();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('counted is saved.').waitFor();
    assert.equal(await written(), undefined);
  },
);

testInBrowser(
  "tool prices, cache, canary texts and context size set in a model's form survive later saves of the form",
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    const form = drawer(page);
    const price = form.getByRole('button', { name: /^Price/ });
    const written = async () => {
      const {
        price: has,
        cache,
        shadow,
        canary,
        context,
        targets,
      } = (await rig.ask('GET', '/api/models/priced')).document;
      return { price: has, cache, shadow, canary, context, targets };
    };
    await visitor.open('/models?model=');
    await form.getByLabel('Name for clients').fill('priced');
    await upstreamField(page).fill('ours');
    await form.getByLabel('Its name there').fill('text-large');
    await form.getByRole('button', { name: 'More' }).click();
    await form.getByLabel('Items in a call, at most').first().fill('16');
    await price.click();
    await form.getByRole('combobox', { name: 'Price' }).last().click();
    await page.getByRole('option', { name: 'Set here' }).last().click();
    await form.getByLabel('1M input tokens', { exact: true }).fill('0.10');
    await form.getByRole('combobox', { name: 'Calls of tools' }).fill('web_search: 0.01');
    await page.keyboard.press('Enter');
    await form.getByLabel('By how soon it answers').fill('priority: 2');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: /^Lists/ }).click();
    await form.getByRole('checkbox', { name: 'Remembers what was said' }).check();
    await form.getByLabel('For how long').fill('1h');
    await form.getByLabel('Texts to watch it by').fill('one, two');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: /^Sizes/ }).click();
    await form.getByLabel('Tokens it can hold').fill('8192');
    await visitor.shoot('models-lists-and-prices');
    await visitor.checkAccessibility();
    await form.getByRole('button', { name: 'Add the model' }).click();
    await page.getByText('priced is added.').waitFor();
    const whole = {
      price: { input: '0.10', tools: { web_search: '0.01' }, factors: { service_tier: { priority: 2 } } },
      cache: { ttl: '1h' },
      shadow: undefined,
      canary: { texts: ['one, two'] },
      context: 8192,
      targets: [{ upstream: 'ours', model: 'text-large', max_items: 16 }],
    };
    assert.deepEqual(await written(), whole);

    await form.getByRole('button', { name: 'Edit', exact: true }).click();
    await form.getByRole('button', { name: /^Lists/ }).click();
    assert.equal(await form.getByLabel('For how long').inputValue(), '1h');
    await form.getByLabel('Ask another model as well').fill('nobody');
    await form.getByLabel('For this share of requests').fill('0.5');
    visitor.allow(/422/);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText(/there is no model "nobody"/).waitFor();
    await form.getByLabel('Ask another model as well').fill('');
    await form.getByLabel('Other names').fill('theirs');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('priced is saved.').waitFor();
    assert.deepEqual(await written(), whole);
  },
);

testInBrowser(
  "a model's form saves limits and budgets, and keeps alert thresholds that it does not show",
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    const form = drawer(page);
    const section = form.getByRole('button', { name: /^Limits and budgets/ });
    const budgets = async () => (await rig.ask('GET', '/api/models/limited')).document.budgets;
    await visitor.open('/models?model=');
    await form.getByLabel('Name for clients').fill('limited');
    await upstreamField(page).fill('ours');
    await form.getByLabel('Its name there').fill('text-large');
    await section.click();
    await form.getByLabel('Requests a minute').fill('1200');
    for (const amount of ['50', '5']) {
      await form.getByRole('button', { name: 'Add a budget' }).click();
      await form.getByLabel('Amount').last().fill(amount);
    }
    await visitor.shoot('models-caps');
    await visitor.checkAccessibility();
    await form.getByRole('button', { name: 'Add the model' }).click();
    await page.getByText('limited is added.').waitFor();
    const { document } = await rig.ask('GET', '/api/models/limited');
    assert.deepEqual(document.limits, { requests_per_minute: 1200 });
    // Each of its own period: a second one for the same is refused.
    assert.deepEqual(
      document.budgets.map(({ every, amount }: { every: string; amount: string }) => [every, amount]),
      [
        ['month', '50'],
        ['week', '5'],
      ],
    );

    const editor = await rig.account('editor');
    await editor.ask(
      'PUT',
      '/api/models/limited',
      {
        ...document,
        budgets: [
          { every: 'month', amount: '50', alerts: ['90%'] },
          { every: 'week', amount: '5' },
        ],
      },
      { 'if-match': '"1"' },
    );
    await visitor.open('/models?model=limited');
    await form.getByRole('button', { name: 'Edit', exact: true }).click();
    await section.click();
    await form.getByRole('button', { name: 'Remove the budget 2' }).click();
    await form.getByLabel('Amount').fill('60');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('limited is saved.').waitFor();
    assert.deepEqual(await budgets(), [{ every: 'month', amount: '60', alerts: ['90%'] }]);
  },
);

testInBrowser("HTML and scripts in a model's names are shown as text", async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('editor');
  const { page } = visitor;
  visitor.allow(/422/);
  await visitor.open('/models?model=');
  const form = drawer(page);
  await form.getByLabel('Name for clients').fill(script);
  await form.getByLabel('Other names').fill(`alias ${script}`);
  await upstreamField(page).fill('ours');
  await form.getByLabel('Its name there').fill(`there ${script}`);
  await form.getByRole('button', { name: 'Add the model' }).click();
  await page.getByText(`${script} is added.`).waitFor();
  await form.getByText(`as there ${script}`, { exact: true }).waitFor();
  await visitor.open('/models');
  await row(page, script).getByText(`also alias ${script}`).waitFor();
  await page.getByRole('searchbox', { name: 'Search models' }).fill(script);
  await page.waitForURL(/q=/);
  await row(page, script).waitFor();
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  assert.notEqual(await page.title(), 'run');
});

testInBrowser('without models and upstreams, the Models page leads to adding an upstream first', async (t) => {
  const rig = await openConsole(t);
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await visitor.open('/models');
  await page.getByRole('heading', { name: 'Nothing to ask for yet' }).waitFor();
  await visitor.shoot('models-empty');
  await visitor.checkAccessibility();
  await page.getByRole('button', { name: 'Add models' }).first().click();
  await page.getByRole('link', { name: 'Go to upstreams' }).click();
  await page.waitForURL(/\/upstreams$/);
});

testInBrowser(
  'several selected models are priced at once, set back to list prices, and hidden even if one of them fails',
  async (t) => {
    const rig = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
    const target = { upstream: 'local', model: 'postern-embed' };
    for (const id of ['one', 'two']) {
      const document = { operations: ['embeddings'], space: id, targets: [target] };
      await (await rig.account()).ask('PUT', `/api/models/${id}`, document, { 'if-none-match': '*' });
    }
    const visitor = await rig.signIn('editor');
    const { page } = visitor;
    await page.setViewportSize({ width: 1440, height: 900 });
    await visitor.open('/models');
    const box = (id: string) => page.getByRole('checkbox', { name: `Choose ${id}` });
    const chosen = page.getByRole('group', { name: 'Chosen models' });
    const set = async (fill: () => Promise<void>): Promise<unknown[]> => {
      await chosen.getByRole('button', { name: 'Price' }).click();
      await fill();
      await page.getByRole('button', { name: 'Set the price' }).click();
      await chosen.waitFor({ state: 'detached' });
      const documents = ['one', 'two'].map(async (id) => (await rig.ask('GET', `/api/models/${id}`)).document.price);
      return Promise.all(documents);
    };
    for (const id of ['one', 'two']) await box(id).check();
    const priced = await set(async () => {
      await page.getByRole('dialog').getByLabel('1M input tokens').fill('0.02');
      await page.screenshot({ path: 'test/artifacts/console/models-bulk-price-1440.png' });
      await visitor.checkAccessibility();
      // A phone has cards, and nothing to choose; what was chosen before stays so.
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('table').waitFor({ state: 'detached' });
      assert.equal(await page.getByRole('dialog').getByLabel('1M input tokens').inputValue(), '0.02');
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.getByRole('table').waitFor();
    });
    assert.deepEqual(priced, [{ input: '0.02' }, { input: '0.02' }]);
    await box('one').check();
    await chosen.getByRole('button', { name: 'Choose all shown' }).click();
    assert.equal(await box('two').isChecked(), true);
    const listed = await set(async () => {
      await page.getByRole('dialog').getByRole('combobox', { name: 'Price' }).click();
      await page.getByRole('option', { name: 'As lists have it' }).click();
    });
    assert.deepEqual(listed, [undefined, undefined]);

    // A failure does not keep the others from their change.
    for (const id of ['one', 'two']) await box(id).check();
    visitor.allow(/Failed to load resource/);
    await page.route('**/api/models/one', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await chosen.getByRole('button', { name: 'Hide' }).click();
    await page.getByText('One model is hidden from clients. Failed: 1, the first one:').waitFor();
    await chosen.getByText('One chosen').waitFor();
    assert.deepEqual([await box('one').isChecked(), await box('two').isChecked()], [true, false]);
    assert.equal((await rig.ask('GET', '/api/models/two')).visible, false);
  },
);
