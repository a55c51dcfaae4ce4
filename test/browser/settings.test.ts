/** The page "Settings": oneself, members, tokens, webhooks, what is kept; passkeys and the identity provider for real. */

import assert from 'node:assert/strict';
import { openConsole, testInBrowser, testOnEachStore, type Visitor } from '../support/console/browser.ts';
import { oidcClient, startIdentityProvider } from '../support/console/identity-provider.ts';

const env = { POSTERN_SECRET_KEY: 'a'.repeat(64) };

testOnEachStore(
  "an owner invites a member by link, and the member's session ends when the owner removes them",
  async (_t, open) => {
    const { signIn, visit } = await open();
    const owner = await signIn('owner');
    const { page } = owner;
    await owner.open('/settings/members');
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('E-mail address').fill('nobody');
    await page.getByRole('button', { name: 'Make a link' }).click();
    await page.getByText('Write it as name@example.com.').waitFor();
    owner.allow(/422/);
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByRole('radio', { name: 'editor' }).check();
    await page.getByRole('button', { name: 'Make a link' }).click();
    const dialog = page.getByRole('dialog', { name: 'grace@example.com is invited' });
    const link = (await dialog.locator('pre').first().textContent()) ?? '';
    assert.match(link, /\/join#token=/);
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('grace@example.com, as editor').waitFor();
    await owner.shoot('settings-members');
    await owner.checkAccessibility();

    const guest = await visit();
    await guest.open(link);
    await guest.page.getByLabel('Name').fill('Grace');
    await guest.page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await guest.page.keyboard.press('Enter');
    await guest.page.getByRole('navigation').first().waitFor();

    await owner.open('/settings/members');
    await page.getByRole('row', { name: /Grace/ }).getByRole('button', { name: 'More for Grace' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByLabel(/Type grace@example.com/).fill('grace@example.com');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Grace is removed.').waitFor();
    guest.allow(/401/);
    await guest.page.goto('/models');
    await guest.page
      .getByRole('button', { name: /Sign in/ })
      .first()
      .waitFor();
  },
);

testInBrowser("an API token is shown once, has its owner's role, and stops working when revoked", async (t) => {
  const { signIn, url } = await openConsole(t);
  const editor = await signIn('editor');
  const { page } = editor;
  await editor.open('/settings/tokens');
  await editor.shoot('settings-tokens-none');
  await page.getByRole('button', { name: 'Make a token' }).click();
  await page.getByLabel('Name').fill('nightly report');
  await page.getByRole('button', { name: 'Make it' }).click();
  const dialog = page.getByRole('dialog', { name: 'The token nightly report' });
  const secret = (await dialog.locator('pre').first().textContent()) ?? '';
  await dialog.getByRole('button', { name: 'Copy the token' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  const ask = (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await ask('/api/models')).status, 200);
  assert.equal((await ask('/api/audit')).status, 403);
  assert.doesNotMatch(await page.content(), new RegExp(secret));
  await editor.shoot('settings-tokens');
  await editor.checkAccessibility();
  await page.getByRole('button', { name: 'Revoke nightly report' }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('The token nightly report is revoked.').waitFor();
  assert.equal((await ask('/api/models')).status, 401);
});

testInBrowser(
  'webhook and retention settings are saved, show faults at their fields, and never show saved secrets',
  async (t) => {
    const { signIn, ask } = await openConsole(t, { env });
    const admin = await signIn('admin');
    const { page } = admin;
    admin.allow(/422/);
    await admin.open('/settings/alerts');
    await page.getByRole('button', { name: 'Add an address' }).click();
    await page.getByLabel('Address').fill('ftp://hooks.example');
    await page.getByLabel('Signing secret').fill('a-secret-of-sixteen');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/wanted: an http/).waitFor();
    await page.getByLabel('Address').fill('https://hooks.example/postern?token=hidden-part');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The webhooks are saved').waitFor();
    await admin.open('/settings/alerts');
    assert.doesNotMatch(await page.content(), /hidden-part|a-secret-of-sixteen/);
    await admin.shoot('settings-webhooks');
    await admin.checkAccessibility();

    await admin.open('/settings/keeping');
    await page.getByLabel('Days that rows are kept').fill('30');
    await page.getByPlaceholder('user').fill('user');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved; it holds').waitFor();
    const { items } = await ask('GET', '/api/settings');
    assert.deepEqual(items[1].document, { retention: '30d', redact: ['user'] });
    await admin.shoot('settings-keeping');
    await admin.checkAccessibility();
    await admin.open('/settings/about');
    await admin.shoot('settings-about');
    await admin.checkAccessibility();

    const viewer = await signIn('viewer');
    await viewer.open('/settings/keeping');
    assert.equal(await viewer.page.getByLabel('Days that rows are kept').isDisabled(), true);
  },
);

testInBrowser(
  'an added passkey signs its owner in without a password, and re-authenticates before it is removed',
  async (t) => {
    const rig = await openConsole(t);
    // Browsers bind passkeys to names alone.
    const origin = rig.url.replace('127.0.0.1', 'localhost');
    const account = await rig.account('owner');
    const visitor = await rig.visit();
    visitor.allow(/another origin/);
    const { page, context } = visitor;
    const devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(`${origin}/settings/account`);
    await page.getByLabel('Email').fill(account.email);
    await page.getByLabel('Password', { exact: true }).fill(account.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name').last().fill('Laptop');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('The passkey is added').waitFor();
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
    await visitor.shoot('settings-account');
    await visitor.checkAccessibility();
    await context.clearCookies();
    await page.goto(`${origin}/settings/account`);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();

    // Long afterwards, the same device proves that its owner is there.
    visitor.allow(/403/);
    await context.addCookies((await account.openStale()).map((cookie) => ({ ...cookie, url: origin })));
    await page.goto(`${origin}/settings/account`);
    await page.getByRole('button', { name: 'Remove Laptop' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog', { name: 'Is it you?' }).getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('The passkey is removed.').waitFor();
  },
);

testInBrowser(
  'a member signs in through the identity provider, and arrives at the page that was requested',
  async (t) => {
    const provider = await startIdentityProvider({
      sub: 'u1',
      email: 'ada@example.com',
      email_verified: true,
      name: 'Ada',
    });
    t.after(() => provider.close());
    const oidc = { issuer: provider.issuer, client_id: oidcClient.id, client_secret: oidcClient.secret };
    const rig = await openConsole(t, {
      config: { console: { port: 0, oidc: { ...oidc, title: 'Example', default_role: 'viewer' } } },
    });
    await rig.account('owner');
    const visitor: Visitor = await rig.visit();
    visitor.allow(new RegExp(`another origin: ${provider.issuer}`));
    await visitor.open('/settings/about');
    await visitor.shoot('sign-in-oidc');
    await visitor.page
      .getByRole('button', { name: /Example/ })
      .or(visitor.page.getByRole('link', { name: /Example/ }))
      .click();
    await visitor.page.getByRole('heading', { name: 'About this gateway' }).waitFor();
    const { items } = await rig.ask('GET', '/api/members');
    assert.deepEqual(items.map(({ email, role }: { email: string; role: string }) => [email, role]).at(-1), [
      'ada@example.com',
      'viewer',
    ]);
  },
);
