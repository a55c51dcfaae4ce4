/** The page "Keys and projects": a key is made, used as shown, watched, given another secret, and ended. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import {
  type ConsoleRig,
  type Lasting,
  openConsole,
  shareConsole,
  testInBrowser,
  testOnEachStore,
} from '../support/console/browser.ts';
import { patientMs } from '../support/time/patience.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const hostile = "\"'><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";

/** Answers embeddings, at a quarter of a dollar each. */
async function startUpstream(t: Lasting) {
  const upstream = await startFakeUpstream((_, reply) =>
    reply.json(200, {
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }],
      usage: { prompt_tokens: 5, total_tokens: 5 },
    }),
  );
  t.after(() => upstream.close());
  return {
    upstreams: [{ id: 'ours', family: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-0123456789' }],
    models: [
      { id: 'team/embed', operations: ['embeddings'], price: { request: '0.25' }, targets: [{ upstream: 'ours' }] },
    ],
  };
}

/** For tests that count no keys. */
const openShared = shareConsole(async (file) => ({ config: await startUpstream(file) }));

const dialog = (page: Page) => page.getByRole('dialog');
const drawer = (page: Page) => page.locator('aside, .subject');

async function call(rig: ConsoleRig, secret: string): Promise<{ status: number; code: unknown }> {
  const answer = await fetch(`${rig.gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'team/embed', input: 'x' }),
  });
  const body: unknown = await answer.json();
  const error: unknown = Reflect.get(Object(body), 'error');
  return { status: answer.status, code: Reflect.get(Object(error), 'code') };
}

/** Polls until it is true; fails after two seconds, as long as a gateway may take to see a change, and what the test needs on this machine. */
async function soon(what: string, check: () => Promise<boolean>, withinMs = patientMs(2_500)): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await check())) {
    assert.ok(performance.now() < endMs, `not soon enough: ${what}`);
    await wait(50);
  }
}

testOnEachStore(
  'a key is created on the page, its curl command works, its spending is shown, and it is rotated and revoked',
  async (t, open) => {
    const rig = await open({ config: await startUpstream(t) });
    const visitor = await rig.signIn('admin');
    const { page } = visitor;
    await visitor.open('/keys');
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Search, production');
    await dialog(page).getByRole('radio', { name: 'Only these' }).click();
    await dialog(page).getByRole('combobox', { name: 'Which models' }).fill('team/embed');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog(page).getByRole('textbox', { name: 'Requests a minute' }).fill('600');
    await dialog(page).getByRole('button', { name: 'Add a budget' }).click();
    await dialog(page).getByRole('textbox', { name: 'Amount' }).fill('200');
    await visitor.shoot('keys-create');
    await visitor.checkAccessibility();
    await dialog(page).getByRole('button', { name: 'Create the key' }).click();

    const made = page.getByRole('dialog', { name: 'Search, production is made' });
    const secret = (await made.locator('.secret').textContent()) ?? '';
    assert.match(secret, /^pst_\w{49}$/);
    await visitor.shoot('keys-secret');
    await visitor.checkAccessibility();
    const curl = (await made.locator('.snippet-code').textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', curl]);
    assert.deepEqual(JSON.parse(stdout).data[0].embedding, [0.25, 0.5]);
    for (const tab of ['OpenAI SDK, Python', 'OpenAI SDK, Node', 'LangChain, Python']) {
      await made.getByRole('tab', { name: tab }).click();
      assert.ok((await made.locator('.snippet-code').textContent())?.includes(secret), tab);
    }

    // A click outside does not close it.
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    assert.equal(await made.isVisible(), true);
    await made.getByRole('button', { name: 'Done' }).click();
    const question = page.getByRole('dialog', { name: 'Did you copy the secret?' });
    await question.getByText('Cancel').click();
    await question.waitFor({ state: 'hidden' });
    assert.equal(await made.locator('.secret').textContent(), secret);
    await made.getByRole('button', { name: 'Copy the secret' }).click();
    await made.getByRole('button', { name: 'Done' }).click();
    await made.waitFor({ state: 'hidden' });
    // Two dialogs followed, and a keyboard user is back at the beginning.
    await page.locator('button:focus', { hasText: 'Create a key' }).waitFor();

    // What it spent shows against its budget.
    const [{ id }] = (await rig.ask('GET', '/api/keys?q=production')).items;
    await soon(
      'the budget counts the call',
      async () => (await rig.ask('GET', `/api/keys/${id}`)).budgets[0].spent === '0.25',
      15_000,
    );
    await visitor.open('/keys');
    await page.getByText('$0.25 of $200.00 a month').waitFor();
    assert.ok(!(await page.content()).includes(secret));
    await visitor.shoot('keys');
    await visitor.checkAccessibility();
    await page.getByRole('link', { name: /^Search, production/ }).click();
    // The gateway holds half of it in advance; that is not spent.
    await drawer(page).getByText('$199.75 left').waitFor();
    await drawer(page)
      .getByRole('img', { name: /\$0\.25 of \$200\.00 is spent/ })
      .waitFor();
    await visitor.shoot('keys-drawer');
    await visitor.checkAccessibility();

    // A new secret: the old one ends at once, if so chosen.
    await drawer(page).getByRole('button', { name: 'Rotate secret' }).click();
    await dialog(page).getByRole('radio', { name: 'No more' }).click();
    await dialog(page).getByRole('button', { name: 'Make the new secret' }).click();
    const renewed = page.getByRole('dialog', { name: 'The new secret of Search, production' });
    const second = (await renewed.locator('.secret').textContent()) ?? '';
    assert.notEqual(second, secret);
    assert.equal((await call(rig, second)).status, 200);
    await soon('the former secret is refused', async () => (await call(rig, secret)).code === 'invalid_api_key');
    await renewed.getByRole('button', { name: 'Copy the secret' }).click();
    await renewed.getByRole('button', { name: 'Done' }).click();

    // It was used today: its name has to be typed.
    await drawer(page).getByRole('button', { name: 'Revoke' }).click();
    const revoking = page.getByRole('dialog', { name: 'Revoke Search, production?' });
    const yes = revoking.getByRole('button', { name: 'Revoke' });
    assert.equal(await yes.isDisabled(), true);
    await revoking.getByRole('textbox').fill('Search, production');
    await visitor.shoot('keys-revoke');
    await yes.click();
    await soon('the revoked key is refused', async () => (await call(rig, second)).code === 'revoked_api_key');
    await drawer(page).getByText('Revoked').waitFor();
  },
);

testInBrowser(
  'saving a key that somebody else changed meanwhile reports the conflict, and keeps the typed values',
  async (t) => {
    const rig = await openShared(t);
    const { id } = await rig.ask('POST', '/api/keys', { name: 'Shared', limits: { requests_per_minute: 5 } });
    const visitor = await rig.signIn('admin');
    visitor.allow(/412/);
    const { page } = visitor;
    await visitor.open(`/keys/${id}`);
    await drawer(page).getByRole('button', { name: 'Change' }).click();
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
    await rig.ask('PATCH', `/api/keys/${id}`, { limits: { requests_per_minute: 7 } });
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page)
      .getByText(/changed the key/)
      .waitFor();
    assert.equal(await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Mine');
    await visitor.shoot('keys-conflict');
    await visitor.checkAccessibility();
    const differences = dialog(page).getByRole('table', { name: 'What differs' }).getByRole('row');
    await differences.getByText('Mine', { exact: true }).last().waitFor();
    // Only what was changed here is written.
    assert.deepEqual(await differences.allInnerTexts(), ['Field\tTheirs\tMine', 'name\tShared\tMine']);
    await dialog(page).getByRole('button', { name: 'Keep mine' }).click();
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).waitFor({ state: 'hidden' });
    const { document } = await rig.ask('GET', `/api/keys/${id}`);
    assert.deepEqual([document.name, document.limits], ['Mine', { requests_per_minute: 7 }]);
  },
);

testInBrowser('the form of a key or project keeps its typed values across a page reload', async (t) => {
  const rig = await openShared(t, { looks: false });
  const { id } = await rig.ask('POST', '/api/keys', { name: 'Typed' });
  const account = await rig.account('admin');
  await account.ask('PUT', '/api/projects/typed', { name: 'Typed' }, { 'if-none-match': '*' });
  const { page, open } = await rig.signIn('admin');
  const name = dialog(page).getByRole('textbox', { name: 'Name', exact: true });
  for (const address of [`/keys/${id}`, '/keys/projects/typed']) {
    await open(address);
    await drawer(page).getByRole('button', { name: 'Change' }).click();
    await name.fill('Typed anew');
    await page.reload();
    await drawer(page).getByRole('button', { name: 'Change' }).click();
    await dialog(page).getByText('What you typed before is here again.').waitFor();
    assert.equal(await name.inputValue(), 'Typed anew');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).waitFor({ state: 'hidden' });
  }
});

testInBrowser(
  'the form of a new key shows each fault at its field, and keeps its typed values across a page reload',
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('admin');
    visitor.allow(/422/);
    const { page } = visitor;
    await visitor.open('/keys?new=key');
    const name = dialog(page).getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Faulty once');
    await dialog(page).getByRole('combobox', { name: 'Addresses' }).fill('10.0.0.0/99');
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('button', { name: 'Add a budget' }).click();
    await dialog(page).getByRole('textbox', { name: 'Amount' }).fill('lots');
    await dialog(page).getByRole('button', { name: 'Create the key' }).click();
    await dialog(page)
      .getByText(/wanted: an IP address or a CIDR range/)
      .waitFor();
    await dialog(page)
      .getByText(/an amount in US dollars/)
      .waitFor();
    await visitor.shoot('keys-faults');
    await visitor.checkAccessibility();
    await page.reload();
    await dialog(page).getByText('What you typed before is here again.').waitFor();
    assert.equal(await name.inputValue(), 'Faulty once');
    assert.equal((await rig.ask('GET', '/api/keys?q=Faulty')).items.length, 0);
  },
);

testInBrowser('a project is created with a budget, and cannot be removed while a key belongs to it', async (t) => {
  const rig = await openConsole(t, { config: await startUpstream(t) });
  const visitor = await rig.signIn('admin');
  visitor.allow(/409/);
  const { page } = visitor;
  await visitor.open('/keys/projects');
  await visitor.shoot('projects-empty');
  await page.getByRole('button', { name: 'Create a project' }).first().click();
  await dialog(page).getByRole('textbox', { name: 'ID' }).fill('search');
  await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Search team');
  await dialog(page).getByRole('button', { name: 'Add a budget' }).click();
  await dialog(page).getByRole('textbox', { name: 'Amount' }).fill('100');
  await dialog(page).getByRole('button', { name: 'Create the project' }).click();
  await dialog(page).waitFor({ state: 'hidden' });
  const key = await rig.ask('POST', '/api/keys', { name: 'Of the project', project: 'search' });
  await soon('the project is in force', async () => (await rig.ask('GET', '/api/projects/search')).inForce);
  await visitor.open('/keys/projects/search');
  await drawer(page).getByText('$100.00 left').waitFor();
  await visitor.shoot('projects');
  await visitor.checkAccessibility();
  await drawer(page).getByRole('button', { name: 'Remove' }).click();
  await dialog(page).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('One key belongs to the project search; move or revoke them first.').waitFor();
  await rig.ask('POST', `/api/keys/${key.id}/revoke`);
  await drawer(page).getByRole('button', { name: 'Remove' }).click();
  await dialog(page).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The project search is removed.').waitFor();
});

testInBrowser('HTML in the names, models and metadata of keys and projects is shown as text', async (t) => {
  const rig = await openShared(t);
  const name = hostile.slice(0, 100);
  const made = await rig.ask('POST', '/api/keys', {
    name,
    models: [hostile],
    metadata: { note: hostile },
  });
  const visitor = await rig.signIn('admin');
  // Of a key whose ID is markup.
  visitor.allow(/404/);
  const { page } = visitor;
  await visitor.open(`/keys/${made.id}`);
  await drawer(page).getByText(hostile).first().waitFor();
  await visitor.shoot('keys-hostile');
  await visitor.open(
    `/keys/${encodeURIComponent(hostile)}?q=${encodeURIComponent(hostile)}&project=${encodeURIComponent(hostile.slice(0, 60))}`,
  );
  await visitor.open('/keys?new=project');
  await dialog(page).getByRole('textbox', { name: 'ID' }).fill('p');
  await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await dialog(page).getByRole('button', { name: 'Create the project' }).click();
  await drawer(page).getByText(name).first().waitFor();
  await visitor.until(`document.title === ${JSON.stringify(`${name} · Postern`)}`);
  assert.equal(await page.locator('img[src="x"]').count(), 0);
});

testInBrowser(
  'a viewer sees keys and their line in the configuration file, and cannot create or revoke a key',
  async (t) => {
    const rig = await openShared(t);
    const { id } = await rig.ask('POST', '/api/keys', { name: 'Seen' });
    const visitor = await rig.signIn('viewer');
    const { page } = visitor;
    await visitor.open('/keys');
    await page
      .getByRole('img', { name: /^Declared in postern\.(yaml|json):\d+$/ })
      .first()
      .waitFor();
    assert.equal(await page.getByRole('button', { name: 'Create a key' }).isDisabled(), true);
    await visitor.open(`/keys/${id}`);
    assert.equal(await drawer(page).getByRole('button', { name: 'Revoke' }).isDisabled(), true);
    await visitor.checkAccessibility();
    await visitor.open('/keys?q=nothing-like-it');
    await page.getByRole('heading', { name: 'No key fits' }).waitFor();
    await page.getByRole('button', { name: 'Show all keys' }).click();
    await page.getByRole('link', { name: /^Seen/ }).waitFor();
    assert.equal(new URL(page.url()).search, '');
  },
);

testInBrowser(
  'the table of keys sorts by column, and an earlier state of a key is restored from its change history',
  async (t) => {
    const rig = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
    const busy = await rig.ask('POST', '/api/keys', { name: 'Busy', limits: { requests_per_minute: 600 } });
    await rig.ask('POST', '/api/keys', { name: 'Idle' });
    await rig.ask('PATCH', `/api/keys/${busy.id}`, { name: 'Renamed', limits: null });
    const visitor = await rig.signIn('admin');
    const { page, open, until, shoot, checkAccessibility } = visitor;
    await page.setViewportSize({ width: 1440, height: 900 });
    await open('/keys');
    const firstName = `document.querySelector('tbody tr .row-name')?.textContent ?? ''`;
    await page.getByRole('button', { name: 'Key', exact: true }).click();
    await page.getByRole('columnheader', { name: /^p95/ }).waitFor();
    const before = await page.evaluate(firstName);
    await page.getByRole('button', { name: 'Key', exact: true }).click();
    await until(`${firstName} !== ${JSON.stringify(before)}`);
    await shoot('keys-sorted');
    await checkAccessibility();

    await open(`/keys/${busy.id}`);
    await page.getByRole('heading', { name: 'Renamed', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Changes' }).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Restore what was before' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('heading', { name: 'Busy', level: 1 }).waitFor();
    assert.equal((await rig.ask('GET', `/api/keys/${busy.id}`)).document.limits.requests_per_minute, 600);
  },
);

testInBrowser('sorting keys by requests or last use orders all keys, not only those of the first page', async (t) => {
  const rig = await openConsole(t, { config: await startUpstream(t) });
  const made: { secret: string }[] = [];
  for (let n = 1; n <= 55; n++) made.push(await rig.ask('POST', '/api/keys', { name: `Key ${n}`, models: ['*'] }));
  for (let n = 0; n < 3; n++) await call(rig, made[0]?.secret ?? '');
  const visitor = await rig.signIn('viewer');
  const { page } = visitor;
  await soon('the calls are in the ledger', async () => (await rig.ask('GET', '/api/ledger')).items.length === 3);
  await page.setViewportSize({ width: 1440, height: 900 });
  await visitor.open('/keys');
  const first = page.getByRole('table').getByRole('row').nth(1);
  await first.getByText('test', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Requests, 24 h' }).click();
  await first.getByText('Key 1', { exact: true }).waitFor();
  assert.match(page.url(), /sort=requests&direction=desc$/);
  await page.getByRole('button', { name: 'Key', exact: true }).click();
  await first.getByText('test', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Last used' }).click();
  await first.getByText('Key 1', { exact: true }).waitFor();
  await page.screenshot({ path: 'test/artifacts/console/keys-by-last-use-1440.png' });
});
