/** The shell of the console: the ways in and out, and what stands around every page. */

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openConsole, shareConsole, testInBrowser, testOnEachStore } from '../support/console/browser.ts';

const owner = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'the analytical engine' };
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const password = (page: Page) => page.getByLabel('Password', { exact: true });
/** For tests that neither need a gateway without members nor end a session. */
const openShared = shareConsole(async () => ({ config: { upstreams: [{ id: 'local', family: 'local' }] } }));

/** Undefined where the upper edge of what has the focus is in sight. */
const nameOfCoveredFocus = `(() => {
  const focused = document.activeElement;
  const { left, top, width, height } = focused.getBoundingClientRect();
  const shown = document.elementFromPoint(left + width / 2, top + Math.min(12, height / 2));
  return focused.contains(shown) ? undefined : focused.outerHTML.slice(0, 200);
})()`;

async function signIn(page: Page, email: string, secret: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await password(page).fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /your account/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
}

testOnEachStore(
  'the set-up link of a new gateway creates the first owner, who can sign out and in again',
  async (_t, open) => {
    const rig = await open();
    const visitor = await rig.visit();
    const { page } = visitor;
    await visitor.open('/models');
    await heading(page, 'Nobody has been set up yet').waitFor();
    await visitor.shoot('needs-set-up');
    await visitor.checkAccessibility();

    await visitor.open(rig.setUpLink);
    await page.getByLabel('Your name').fill(owner.name);
    await page.getByLabel('Email').fill(owner.email);
    await password(page).fill('short');
    visitor.allow(/422/);
    await page.getByRole('button', { name: 'Become the owner' }).click();
    await page
      .getByText(/at least 12 characters/i)
      .nth(1)
      .waitFor();
    await visitor.shoot('set-up');
    await visitor.checkAccessibility();
    await password(page).fill(owner.password);
    await page.getByRole('button', { name: 'Become the owner' }).click();
    await heading(page, 'Set-up').waitFor();
    assert.equal(new URL(page.url()).pathname, '/setup');
    assert.equal(new URL(page.url()).hash, '');
    await visitor.checkAccessibility();

    await signOut(page);
    assert.deepEqual(await visitor.context.cookies(), []);
    await visitor.shoot('sign-in');
    await visitor.checkAccessibility();

    visitor.allow(/401/);
    await visitor.open('/models');
    await signIn(page, owner.email, 'not the right one');
    await page.getByRole('alert').getByText(/.+/).waitFor();
    await visitor.shoot('sign-in-failed');
    assert.equal(await page.getByLabel('Email').inputValue(), owner.email, 'what was typed stays');
    await signIn(page, owner.email, owner.password);
    await heading(page, 'Models').waitFor();
    await visitor.until(`document.title === 'Models · Postern'`);
  },
);

testInBrowser(
  'a used set-up link is refused with the typed values kept, and a link without its token leads to sign-in',
  async (t) => {
    const rig = await openConsole(t);
    const token = new URL(rig.setUpLink).hash.slice('#token='.length);
    const first = { token, name: 'First Owner', email: 'first@example.com', password: owner.password };
    const used = await fetch(`${rig.url}/api/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(first),
    });
    assert.equal(used.status, 200, await used.text());
    const visitor = await rig.visit();
    visitor.allow(/404/);
    await visitor.open('/setup');
    await heading(visitor.page, 'Sign in').waitFor();
    await visitor.open(rig.setUpLink);
    const { page } = visitor;
    await page.getByLabel('Your name').fill(owner.name);
    await page.getByLabel('Email').fill(owner.email);
    await password(page).fill(owner.password);
    await page.getByRole('button', { name: 'Become the owner' }).click();
    await page.getByRole('alert').getByText(/.+/).waitFor();
    assert.equal(await page.getByLabel('Your name').inputValue(), owner.name);
  },
);

testInBrowser('an invited member joins with a name and password, and gets the role of the invitation', async (t) => {
  const rig = await openShared(t);
  const { link } = await rig.ask('POST', '/api/members', { email: 'grace@example.com', role: 'viewer' });
  const visitor = await rig.visit();
  const { page } = visitor;
  await visitor.open(link);
  await heading(page, 'You are invited').waitFor();
  await visitor.shoot('invitation');
  await visitor.checkAccessibility();
  await page.getByLabel('Your name').fill('Grace Hopper');
  await password(page).fill('a ship in port is safe');
  await page.getByRole('button', { name: 'Join' }).click();
  await heading(page, 'Overview').waitFor();
  await page.getByRole('button', { name: 'Grace Hopper: your account' }).click();
  await page.getByText('viewer', { exact: true }).waitFor();
  await visitor.shoot('user-menu');
  await visitor.checkAccessibility();
});

testInBrowser(
  'an invitation opened in a browser already signed in as another member signs in the invited one',
  async (t) => {
    const rig = await openConsole(t, { looks: false });
    const { link } = await rig.ask('POST', '/api/members', { email: 'grace@example.com', role: 'viewer' });
    const visitor = await rig.signIn('owner');
    const { page } = visitor;
    // The first request of the page has no token yet; it is repeated with one.
    visitor.allow(/403/);
    await visitor.open(link);
    await heading(page, 'You are invited').waitFor();
    await page.getByLabel('Your name').fill('Grace Hopper');
    await password(page).fill('a ship in port is safe');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('button', { name: 'Grace Hopper: your account' }).waitFor();
  },
);

testInBrowser(
  'an expired session asks for the password in a dialog over the page, and typed values stay',
  async (t) => {
    const rig = await openShared(t);
    const { email, password: secret } = await rig.account('owner');
    const visitor = await rig.signIn('owner');
    const { page, context } = visitor;
    visitor.allow(/401/);
    await visitor.open('/keys?new=key');
    const form = page.getByRole('dialog').filter({ has: page.getByRole('button', { name: 'Create the key' }) });
    const name = form.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('typed before the end');
    await context.clearCookies();
    await form.getByRole('button', { name: 'Create the key' }).click();

    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.waitFor();
    await visitor.shoot('session-ended');
    await visitor.checkAccessibility();
    // It does not close by itself.
    await page.keyboard.press('Escape');
    assert.equal(await again.getByLabel('Email').inputValue(), email);
    await again.getByLabel('Password', { exact: true }).fill(secret);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.waitFor({ state: 'hidden' });
    assert.equal(await name.inputValue(), 'typed before the end');
    await form.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('dialog', { name: 'typed before the end is made' }).waitFor();
  },
);

testInBrowser('the set-up form keeps the typed name across a page reload, but never the password', async (t) => {
  const rig = await openConsole(t);
  const visitor = await rig.visit();
  const { page } = visitor;
  await visitor.open(rig.setUpLink);
  await page.getByLabel('Your name').fill(owner.name);
  await password(page).fill(owner.password);
  await page.reload();
  await page.getByLabel('Your name').waitFor();
  assert.equal(await page.getByLabel('Your name').inputValue(), owner.name);
  assert.equal(await password(page).inputValue(), '', 'secrets are not kept');
  assert.doesNotMatch(String(await page.evaluate('JSON.stringify(sessionStorage)')), /analytical/);
});

testInBrowser('the command palette (Ctrl+K) opens pages and switches to dark colours by keyboard alone', async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await visitor.open('/');
  await page.keyboard.press('Control+k');
  const search = page.getByPlaceholder(/Go to a page/);
  await search.waitFor();
  await page.getByRole('button', { name: 'Create a key' }).or(page.getByText('Create a key')).first().waitFor();
  await visitor.shoot('palette');
  await visitor.checkAccessibility();
  await search.fill('playgr');
  await page.keyboard.press('Enter');
  await heading(page, 'Playground').waitFor();
  await visitor.until(`document.title === 'Playground · Postern'`);

  await page.keyboard.press('Control+k');
  await search.fill('colours: dark');
  await page.keyboard.press('Enter');
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.reload();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
});

testInBrowser(
  'the command palette finds models despite typos, requests by ID, and actions on an API key',
  async (t) => {
    const rig = await openShared(t, { looks: false });
    const { secret, id: key } = await rig.ask('POST', '/api/keys', { name: 'Indexing, nightly' });
    const answer = await fetch(`${rig.gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local/hash-embed', input: 'a small gate' }),
    });
    assert.equal(answer.status, 200, await answer.text());
    const visitor = await rig.signIn('owner');
    const { page } = visitor;
    await visitor.open('/');
    const find = async (text: string, name: RegExp): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder(/Go to a page/).fill(text);
      await page.getByRole('dialog').getByRole('button', { name }).click();
    };
    await find('hash-enbed', /^local\/hash-embed/);
    await visitor.until(`location.href.includes(encodeURIComponent('local/hash-embed'))`);
    await find('revoke nightly', /^Revoke Indexing, nightly/);
    await visitor.until(`location.pathname === ${JSON.stringify(`/keys/${key}`)}`);
    await find('audot', /^Audit log/);
    await visitor.until(`location.pathname === '/audit'`);
    const ledger = async () => (await rig.ask('GET', '/api/ledger')).items;
    let [row] = await ledger();
    for (let looks = 0; row === undefined && looks < 100; looks += 1) {
      await page.waitForTimeout(100);
      [row] = await ledger();
    }
    await find(row.id, /Embeddings/);
    await visitor.until(`new URLSearchParams(location.search).get('id') === ${JSON.stringify(row.id)}`);
  },
);

testInBrowser(
  'single-key shortcuts open pages, focus the search and move along lists, but do nothing in a text field',
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('owner');
    const { page } = visitor;
    await visitor.open('/');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    await visitor.shoot('shortcuts');
    await visitor.checkAccessibility();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await heading(page, 'Models').waitFor();
    await page.locator('[data-list-item]').nth(1).waitFor();
    const isAt = (index: number) =>
      visitor.until(`document.activeElement === document.querySelectorAll('[data-list-item]')[${index}]`);
    await page.keyboard.press('j');
    await isAt(0);
    await page.keyboard.press('j');
    await isAt(1);
    await page.keyboard.press('k');
    await isAt(0);
    await page.keyboard.press('/');
    const search = page.getByRole('searchbox', { name: 'Search models' });
    await visitor.until(`document.activeElement?.type === 'search'`);
    await page.keyboard.type('gm?');
    assert.equal(await search.inputValue(), 'gm?');
    assert.equal(await help.count(), 0);
  },
);

testInBrowser("a skip link and each page change move keyboard focus to the page's content", async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await visitor.open('/');
  await page.keyboard.press('Tab');
  await visitor.until(`document.activeElement?.textContent === 'Skip to the page'`);
  await page.keyboard.press('Enter');
  await visitor.until(`document.activeElement?.id === 'main'`);

  await page.getByRole('link', { name: 'Upstreams' }).focus();
  await page.keyboard.press('Enter');
  await heading(page, 'Upstreams').waitFor();
  await visitor.until(`document.activeElement?.id === 'main'`);
  assert.equal(await page.getByRole('link', { name: 'Upstreams' }).getAttribute('aria-current'), 'page');
});

testInBrowser("a focused element is never covered by the page header or a form's action bar", async (t) => {
  const rig = await openShared(t, { looks: false });
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await page.setViewportSize({ width: 1024, height: 600 });
  await visitor.open('/playground/rerank');
  // What is there once the models are known can have the focus too.
  await page.locator('.snippet-code').filter({ hasText: 'local/' }).first().waitFor();
  await page.getByRole('button', { name: 'Find the right answer among ten' }).focus();
  for (const direction of ['Tab', 'Shift+Tab']) {
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press(direction);
      const covered = await page.evaluate(nameOfCoveredFocus);
      assert.equal(covered, undefined, `${direction}, step ${step}`);
    }
  }
});

testInBrowser("a focused element in a dialog is never covered by the dialog's title", async (t) => {
  const rig = await openShared(t, { looks: false });
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await page.setViewportSize({ width: 390, height: 700 });
  await visitor.open('/keys?new=key');
  await page.getByRole('button', { name: 'Add a budget' }).focus();
  for (let step = 0; step < 16; step += 1) {
    await page.keyboard.press('Shift+Tab');
    assert.equal(await page.evaluate(nameOfCoveredFocus), undefined, `step ${step}`);
  }
});

testInBrowser('on a phone the navigation opens by a button, and closes once a page is chosen', async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await page.setViewportSize({ width: 375, height: 812 });
  await visitor.open('/');
  assert.equal(await page.getByRole('link', { name: 'Explorer' }).count(), 0);
  await page.getByRole('button', { name: 'Show the pages' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Explorer' }).waitFor();
  await visitor.checkAccessibility();
  await page.getByRole('link', { name: 'Explorer' }).click();
  await heading(page, 'Explorer').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
});

testInBrowser('an unknown URL shows a not-found page with a link to the Overview', async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('viewer');
  await visitor.open('/nowhere/at/all');
  await heading(visitor.page, 'There is no page here').waitFor();
  await visitor.shoot('not-found');
  await visitor.checkAccessibility();
  await visitor.page.getByRole('link', { name: 'Go to the overview' }).click();
  await heading(visitor.page, 'Overview').waitFor();
});

testInBrowser(
  'the URL of an unknown model, upstream, key or project shows "There is no such ..." instead of empty charts',
  async (t) => {
    const rig = await openShared(t);
    const visitor = await rig.signIn('admin');
    const { page } = visitor;
    visitor.allow(/404/);
    const addresses = {
      model: '/models/none',
      upstream: '/upstreams/none',
      key: '/keys/none',
      project: '/keys/projects/none',
    };
    for (const [kind, address] of Object.entries(addresses)) {
      await visitor.open(address);
      await heading(page, `There is no such ${kind}`).waitFor();
      await visitor.until(`document.title === 'There is no such ${kind} · Postern'`);
      assert.equal(await page.getByRole('region', { name: 'Traffic' }).count(), 0);
      assert.match(
        (await page
          .getByRole('link', { name: /Explorer$/ })
          .last()
          .getAttribute('href')) ?? '',
        /=none$/,
      );
      await visitor.checkAccessibility();
    }
    await visitor.shoot('unknown-subject');
  },
);

testInBrowser('a model deleted while its page is open is reported as deleted, and can be restored', async (t) => {
  const rig = await openShared(t, { looks: false });
  const { ask } = await rig.account('admin');
  const model = { operations: ['chat'], targets: [{ upstream: 'local', model: 'local/echo' }] };
  await ask('PUT', '/api/models/brief', model, { 'if-none-match': '*' });
  const visitor = await rig.signIn('admin');
  visitor.allow(/404/);
  await visitor.open('/models/brief');
  await ask('DELETE', '/api/models/brief', undefined, { 'if-match': '"1"' });
  await visitor.page.getByText('The model was deleted while this page was open.').waitFor();
  await heading(visitor.page, 'brief').waitFor();

  await visitor.open('/models/brief');
  await heading(visitor.page, 'There is no such model').waitFor();
  await visitor.page.getByRole('button', { name: /removed the model brief/ }).click();
  await visitor.page.getByRole('button', { name: 'Restore what was before' }).click();
  await visitor.page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await heading(visitor.page, 'brief').waitFor();
  assert.deepEqual((await ask('GET', '/api/models/brief')).document.targets, model.targets);
});

testInBrowser('an Explorer URL whose time range ends before it begins shows an error that says so', async (t) => {
  const rig = await openShared(t, { looks: false });
  const visitor = await rig.signIn('viewer');
  visitor.allow(/422/);
  await visitor.open('/explorer?from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z');
  await visitor.page.getByRole('alert').getByText('"from" must be before "to".').first().waitFor();
});

testInBrowser('the console reports an unreachable gateway until it is reachable again', async (t) => {
  const rig = await openShared(t);
  const visitor = await rig.signIn('owner');
  const { page, context } = visitor;
  visitor.allow(/ERR_FAILED|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION/);
  await visitor.open('/models');
  await context.setOffline(true);
  await page.keyboard.press('Control+k');
  await page
    .getByRole('status')
    .getByText(/cannot be reached/)
    .waitFor();
  await page.keyboard.press('Escape');
  await context.setOffline(false);
  await page.getByText(/cannot be reached/).waitFor({ state: 'hidden' });
});

testInBrowser(
  'a page first opened while the gateway is unreachable loads by itself later, without advice to reload',
  async (t) => {
    const rig = await openShared(t, { looks: false });
    const visitor = await rig.signIn('owner');
    const { page, context } = visitor;
    visitor.allow(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch|dynamically imported module/);
    await visitor.open('/models');
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Alerts' }).click();
    await page.getByRole('heading', { name: 'This page is not loaded yet' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Reload' }).count(), 0);
    await context.setOffline(false);
    await heading(page, 'Alerts').waitFor();
  },
);

testInBrowser('a page reloads data that failed to load as soon as the gateway is reachable again', async (t) => {
  const rig = await openShared(t, { looks: false });
  const visitor = await rig.signIn('owner');
  const { page, context } = visitor;
  visitor.allow(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch/);
  await visitor.open('/explorer?view=cost');
  await context.setOffline(true);
  await page.getByRole('tab', { name: 'Traffic' }).click();
  const failed = page.getByRole('alert').getByText('This could not be loaded').first();
  await failed.waitFor();
  // Something else finds the gateway back before the shell does.
  await context.setOffline(false);
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
  await failed.waitFor({ state: 'hidden' });
});
