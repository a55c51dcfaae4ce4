/** The shell of the console: the ways in and out, and what stands around every page. */

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openConsole, testInBrowser, testOnEachStore } from '../support/console/browser.ts';

const owner = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'the analytical engine' };
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const password = (page: Page) => page.getByLabel('Password', { exact: true });

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

testOnEachStore('the printed link makes the first owner, who signs out and in again', async (_t, open) => {
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
  await heading(page, 'Overview').waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
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
  assert.equal(await page.title(), 'Models · Postern');
});

testInBrowser('a link that was used, and one that is not whole, say so', async (t) => {
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
  await heading(visitor.page, 'This link is not whole').waitFor();
  await visitor.open(rig.setUpLink);
  const { page } = visitor;
  await page.getByLabel('Your name').fill(owner.name);
  await page.getByLabel('Email').fill(owner.email);
  await password(page).fill(owner.password);
  await page.getByRole('button', { name: 'Become the owner' }).click();
  await page.getByRole('alert').getByText(/.+/).waitFor();
  assert.equal(await page.getByLabel('Your name').inputValue(), owner.name);
});

testInBrowser('who is invited joins with a name and a password, and has the role', async (t) => {
  const rig = await openConsole(t);
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

testInBrowser('a session that ends is asked for again above the page, and what was typed stays', async (t) => {
  const rig = await openConsole(t);
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
  // It does not go away by itself.
  await page.keyboard.press('Escape');
  assert.equal(await again.getByLabel('Email').inputValue(), email);
  await again.getByLabel('Password', { exact: true }).fill(secret);
  await again.getByRole('button', { name: 'Sign in', exact: true }).click();
  await again.waitFor({ state: 'hidden' });
  assert.equal(await name.inputValue(), 'typed before the end');
  await form.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('dialog', { name: 'typed before the end is made' }).waitFor();
});

testInBrowser('what was typed is there again after a reload', async (t) => {
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

testInBrowser('the palette goes to pages and changes the colours, by keyboard alone', async (t) => {
  const rig = await openConsole(t);
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
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await heading(page, 'Playground').waitFor();
  assert.equal(await page.title(), 'Playground · Postern');

  await page.keyboard.press('Control+k');
  await search.fill('colours: dark');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.reload();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
});

testInBrowser('the keyboard reaches the page at once, and each page in its turn', async (t) => {
  const rig = await openConsole(t);
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

testInBrowser('on a phone the pages are behind a button', async (t) => {
  const rig = await openConsole(t);
  const visitor = await rig.signIn('owner');
  const { page } = visitor;
  await page.setViewportSize({ width: 375, height: 812 });
  await visitor.open('/');
  assert.equal(await page.getByRole('link', { name: 'Requests' }).count(), 0);
  await page.getByRole('button', { name: 'Show the pages' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Requests' }).waitFor();
  await visitor.checkAccessibility();
  await page.getByRole('link', { name: 'Requests' }).click();
  await heading(page, 'Requests').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
});

testInBrowser('an address that leads nowhere says so', async (t) => {
  const rig = await openConsole(t);
  const visitor = await rig.signIn('viewer');
  await visitor.open('/nowhere/at/all');
  await visitor.page.getByRole('heading', { name: 'There is no page here' }).waitFor();
  await visitor.shoot('not-found');
  await visitor.checkAccessibility();
  await visitor.page.getByRole('link', { name: 'Go to the overview' }).click();
  await heading(visitor.page, 'Overview').waitFor();
});

testInBrowser('a gateway that is away is said to be, until it is back', async (t) => {
  const rig = await openConsole(t);
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
