/** The page Upstreams: one added by its form, tested, changed by two at once, refused by field, deleted, and never run as script. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openConsole, shareConsole, testInBrowser, testOnEachStore } from '../support/console/browser.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const secret = 'sk-typed-0123456789';
const script = "\"><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";

/** For tests that need no more than what they make. */
const openShared = shareConsole(async () => ({}));

/** Lists two models for the right key. */
async function startUpstream(t: TestContext): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream((request, reply) =>
    request.header('authorization') === `Bearer ${secret}`
      ? reply.json(200, { object: 'list', data: [{ id: 'bge-m3' }, { id: 'bge-reranker' }] })
      : reply.json(401, { error: { message: `Incorrect API key provided: ${request.header('authorization')}` } }),
  );
  t.after(() => upstream.close());
  return upstream;
}

const drawer = (page: Page) => page.locator('aside, .subject');
const save = (page: Page, name: string) => drawer(page).getByRole('button', { name, exact: true });

async function pickFamily(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add an upstream' }).first().click();
  await drawer(page).getByLabel('What kind of service is it?').fill(name.toLowerCase());
  await drawer(page).getByRole('button', { name }).first().click();
}

testOnEachStore('an upstream is tested and added by its form, then edited and deleted', async (t, open) => {
  const upstream = await startUpstream(t);
  // Beside a database that several machines share no key is made by itself.
  const rig = await open({ env: { POSTERN_SECRET_KEY: '11'.repeat(32) } });
  const visitor = await rig.signIn('admin');
  const { page } = visitor;
  visitor.allow(/40[0-9]|422/);
  await visitor.open('/upstreams');
  await page.getByRole('button', { name: 'Add an upstream' }).first().click();
  await drawer(page)
    .getByRole('button', { name: /^OpenAI and compatible services/ })
    .waitFor();
  await visitor.shoot('upstreams-gallery');
  await visitor.checkAccessibility();
  await drawer(page)
    .getByRole('button', { name: /^OpenAI and compatible services/ })
    .click();

  await drawer(page).getByLabel('Name', { exact: false }).first().fill('ours');
  await drawer(page).getByRole('textbox', { name: 'Address' }).fill(`${upstream.url}/v1`);
  await drawer(page).getByLabel('API key', { exact: true }).fill('sk-wrong-0123456789');
  await save(page, 'Test the connection').click();
  await drawer(page).getByText('refuses the credential (401)').waitFor();
  await visitor.shoot('upstreams-test-failed');
  assert.equal(await page.getByText('sk-wrong').count(), 0);

  await drawer(page).getByLabel('API key', { exact: true }).fill(secret);
  await save(page, 'Test the connection').click();
  await drawer(page).getByText('lists 2 models').waitFor();
  await visitor.shoot('upstreams-form');
  await visitor.checkAccessibility();
  await save(page, 'Add the upstream').click();
  await drawer(page).getByText('No model uses it yet').waitFor();
  assert.equal(await page.getByText(secret).count(), 0);
  assert.equal(
    await drawer(page).getByRole('link', { name: 'Add its models' }).getAttribute('href'),
    '/models?add=ours',
  );
  await visitor.shoot('upstreams-details');
  await visitor.checkAccessibility();

  await save(page, 'Test the connection').click();
  await drawer(page).getByText('lists 2 models').waitFor();

  await drawer(page).getByRole('link', { name: 'Add its models' }).click();
  const adding = page.getByRole('dialog', { name: 'Add models' });
  await adding.getByRole('checkbox', { name: 'bge-m3' }).waitFor();
  await visitor.open('/upstreams?upstream=ours');

  await save(page, 'Edit').click();
  await drawer(page).getByText('One is set.', { exact: false }).waitFor();
  await drawer(page).getByRole('button', { name: 'Limits' }).click();
  await drawer(page)
    .getByLabel(/^Calls at a time/)
    .fill('7');
  await visitor.shoot('upstreams-edit');
  await visitor.checkAccessibility();
  await save(page, 'Save').click();
  await drawer(page)
    .getByText(/of 7 calls in flight/)
    .waitFor();
  assert.equal((await rig.ask('POST', '/api/upstreams/ours/test')).ok, true);

  await save(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('ours is deleted.').waitFor();
  await page.getByRole('link', { name: 'ours', exact: true }).waitFor({ state: 'detached' });
  assert.equal(
    (await rig.ask('GET', '/api/upstreams')).items.some(({ id }: { id: string }) => id === 'ours'),
    false,
  );
});

testInBrowser('the form of a new upstream shows each fault at its field, and keeps the typed values', async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('admin');
  const { page } = visitor;
  visitor.allow(/422/);
  await visitor.open('/upstreams');
  await pickFamily(page, 'AWS Bedrock');
  await drawer(page).getByLabel('Region').fill('Nowhere at all');
  await save(page, 'Add the upstream').click();
  const region = drawer(page).getByLabel('Region');
  await region.and(page.locator('[aria-invalid="true"]')).waitFor();
  assert.equal(await region.inputValue(), 'Nowhere at all');

  await drawer(page).getByRole('button', { name: 'Choose another kind' }).click();
  await drawer(page).getByLabel('What kind of service is it?').fill('openai and');
  await drawer(page)
    .getByRole('button', { name: /^OpenAI and compatible/ })
    .click();
  const address = drawer(page).getByRole('textbox', { name: 'Address' });
  await address.fill('http://169.254.169.254/v1');
  await save(page, 'Test the connection').click();
  await drawer(page)
    .getByText(/leads to 169\.254\.169\.254, which is not allowed/)
    .waitFor();
  await address.and(page.locator('[aria-invalid="true"]')).waitFor();
  await visitor.shoot('upstreams-faults');
  await visitor.checkAccessibility();
});

testInBrowser(
  'a changed upstream address requires its credential again, and the old one is never sent there',
  async (t) => {
    const upstream = await startUpstream(t);
    const other = await startUpstream(t);
    const rig = await openShared(t);
    const visitor = await rig.signIn('admin');
    const { page } = visitor;
    visitor.allow(/422/);
    await visitor.open('/upstreams');
    await pickFamily(page, 'OpenAI and compatible services');
    await drawer(page).getByRole('textbox', { name: 'Address' }).fill(`${upstream.url}/v1`);
    await drawer(page).getByLabel('API key', { exact: true }).fill(secret);
    await save(page, 'Add the upstream').click();
    await save(page, 'Edit').click();
    await drawer(page).getByRole('textbox', { name: 'Address' }).fill(`${other.url}/v1`);
    await save(page, 'Test the connection').click();
    await drawer(page)
      .getByText(/enter it again/)
      .first()
      .waitFor();
    await save(page, 'Save').click();
    await drawer(page)
      .getByText(/enter it again/)
      .first()
      .waitFor();
    assert.equal(other.requests.length, 0);
    await drawer(page).getByLabel('API key', { exact: true }).fill(secret);
    await save(page, 'Save').click();
    await drawer(page).getByText(other.url, { exact: false }).first().waitFor();
  },
);

testInBrowser('an upstream used by 12 models lists ten of them with a link to the rest', async (t) => {
  const rig = await openShared(t);
  const { ask } = await rig.account('admin');
  const anew = { 'if-none-match': '*' };
  await ask('PUT', '/api/upstreams/busy', { family: 'openai', base_url: 'http://127.0.0.1:1/v1' }, anew);
  const model = { operations: ['chat'], targets: [{ upstream: 'busy', model: 'shared' }] };
  for (let at = 0; at < 12; at += 1) await ask('PUT', `/api/models/fleet%2Fmodel-${at}`, model, anew);
  const visitor = await rig.signIn('admin');
  const { page } = visitor;
  await visitor.open('/upstreams/busy');
  const more = page.getByRole('link', { name: 'and 2 more' });
  await more.waitFor();
  assert.equal(await page.getByRole('link', { name: /^fleet/ }).count(), 10);
  // Of targets that nothing has called, three lines: what can be done is in sight.
  const targets = page.getByRole('region', { name: 'State' }).getByRole('listitem');
  await targets.first().waitFor();
  assert.equal(await targets.count(), 3);
  await visitor.shoot('upstreams-many-models');
  assert.equal(await more.getAttribute('href'), '/models?upstream=busy');
  await save(page, 'Delete').click();
  await page.getByRole('dialog', { name: 'busy is still needed' }).getByText('and 2 more').waitFor();
});

testInBrowser('the form of an upstream or model keeps its typed values across a page reload', async (t) => {
  const rig = await openShared(t, { looks: false });
  const { ask } = await rig.account('admin');
  const anew = { 'if-none-match': '*' };
  await ask('PUT', '/api/upstreams/ours', { family: 'openai', base_url: 'http://127.0.0.1:1/v1' }, anew);
  await ask('PUT', '/api/models/mine', { operations: ['chat'], targets: [{ upstream: 'ours', model: 'm' }] }, anew);
  const visitor = await rig.signIn('admin');
  const { page } = visitor;
  for (const [address, field] of [
    ['/upstreams/ours', 'Address'],
    ['/models/mine', 'Its name there'],
  ] as const) {
    await visitor.open(address);
    await save(page, 'Edit').click();
    const input = drawer(page).getByRole('textbox', { name: field });
    await input.fill('http://127.0.0.1:2/typed');
    await page.reload();
    await drawer(page).getByText('What you typed before is here again').waitFor();
    assert.equal(await input.inputValue(), 'http://127.0.0.1:2/typed');
    await save(page, 'Cancel').click();
    await save(page, 'Edit').waitFor();
  }
});

testInBrowser(
  'saving an upstream that somebody else changed meanwhile reports the conflict, and keeps the typed values',
  async (t) => {
    const rig = await openShared(t);
    await rig.ask('GET', '/api/upstreams');
    const visitor = await rig.signIn('admin');
    const { page } = visitor;
    visitor.allow(/412/);
    await visitor.open('/upstreams');
    await pickFamily(page, 'vLLM');
    await save(page, 'Add the upstream').click();
    await save(page, 'Edit').click();
    const second = await rig.signIn('owner');
    await second.open('/upstreams?upstream=vllm');
    await save(second.page, 'Edit').click();
    await drawer(second.page).getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:8111');
    await save(second.page, 'Save').click();
    await drawer(second.page).getByText('http://127.0.0.1:8111').first().waitFor();

    await drawer(page).getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:8222');
    await save(page, 'Save').click();
    const conflict = drawer(page).getByText('It was changed in the meantime');
    await conflict.waitFor();
    // In sight of the button that was pressed.
    const { y } = (await conflict.boundingBox()) ?? { y: -1 };
    assert.ok(y > 0 && y < (page.viewportSize()?.height ?? 0), `at ${y}`);
    assert.equal(await drawer(page).getByRole('textbox', { name: 'Address' }).inputValue(), 'http://127.0.0.1:8222');
    await visitor.shoot('upstreams-conflict');
    await drawer(page).getByRole('button', { name: 'Keep mine' }).click();
    await save(page, 'Save').click();
    await drawer(page).getByText('http://127.0.0.1:8222').first().waitFor();
  },
);

testInBrowser(
  'an upstream from the configuration file is read-only, a failing one is marked, and HTML in names is text',
  async (t) => {
    const upstreams = [
      { id: 'filed', family: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: `\${A_KEY}` },
      { id: 'local', family: 'local' },
    ];
    const models = [
      { id: script, operations: ['embeddings'], space: 's', targets: [{ upstream: 'filed', model: script }] },
    ];
    const rig = await openConsole(t, { config: { upstreams, models }, env: { A_KEY: 'sk-0123456789' } });
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    await visitor.open('/upstreams');
    await page
      .getByRole('img', { name: /^Declared in postern\.json/ })
      .first()
      .waitFor();
    for (let turn = 0; turn < 6; turn += 1) {
      await fetch(`${rig.gateway.url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: script, input: 'x' }),
      });
    }
    await page
      .getByText(/^(Failing|In cooldown|Trying again)/)
      .first()
      .waitFor();
    await visitor.shoot('upstreams');
    await visitor.checkAccessibility();
    await page.getByRole('link', { name: 'filed', exact: true }).click();
    await drawer(page)
      .getByText(/Change it there/)
      .waitFor();
    await drawer(page).getByText('key: from the environment (A_KEY)').waitFor();
    assert.equal(await drawer(page).getByRole('button', { name: 'Edit', exact: true }).count(), 0);
    assert.equal((await page.title()) === 'run', false);
    assert.equal(await save(page, 'Test the connection').isDisabled(), true);
    await visitor.shoot('upstreams-of-the-file');
    await visitor.checkAccessibility();
  },
);

testInBrowser("an upstream's page and form show its lanes, endpoints and automatic concurrency limit", async (t) => {
  const upstream = await startUpstream(t);
  const endpoints = [`127.0.0.1:${upstream.port}`, `127.0.0.2:${upstream.port}`];
  const rig = await openConsole(t, {
    config: {
      upstreams: [
        {
          ...{ id: 'tei', family: 'openai', base_url: `${upstream.url}/v1`, api_key: secret, endpoints },
          limits: { concurrency: 'auto', max_concurrency: 64 },
        },
      ],
      models: [{ id: 'bge-m3', operations: ['embeddings'], targets: [{ upstream: 'tei' }] }],
    },
    env: { POSTERN_SECRET_KEY: '11'.repeat(32) },
  });
  const visitor = await rig.signIn('admin');
  const { page } = visitor;
  await visitor.open('/upstreams?upstream=tei');
  const shown = drawer(page);
  await shown.getByRole('table', { name: 'Lanes' }).getByText('Interactive').waitFor();
  await shown.getByText('4 by now (learned; at most 64)').waitFor();
  await shown.getByRole('table', { name: 'Endpoints' }).getByText(`127.0.0.2:${upstream.port}`).waitFor();
  await visitor.shoot('upstreams-endpoints');
  await visitor.checkAccessibility();

  const document = {
    ...{
      id: 'pods',
      family: 'openai',
      base_url: 'http://pods.test/v1',
      api_key: secret,
      endpoints: 'dns',
      pace: '30s',
    },
    limits: { concurrency: 'auto', min_concurrency: 4, bulk_share: '20%' },
  };
  const owner = await rig.account('owner');
  await owner.ask('PUT', '/api/upstreams/pods', document, { 'if-none-match': '*' });
  await visitor.open('/upstreams?upstream=pods');
  await shown.getByRole('button', { name: 'Edit' }).click();
  await shown.getByRole('button', { name: 'Limits' }).click();
  await shown.getByRole('button', { name: 'Endpoints' }).click();
  assert.equal(await shown.getByLabel('Calls at a time, or auto').inputValue(), 'auto');
  assert.equal(await shown.getByLabel('How long a call may wait for a rate limit').inputValue(), '30s');
  await shown.getByText('dns', { exact: true }).waitFor();
  await visitor.shoot('upstreams-limits');
  await visitor.checkAccessibility();
});
