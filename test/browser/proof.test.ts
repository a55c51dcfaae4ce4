/** The dialog for fresh proof: it opens above the current action, which then goes on unchanged. */

import assert from 'node:assert/strict';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { oidcClient, startIdentityProvider } from '../support/console/identity-provider.ts';

testInBrowser(
  'an owner who signed in long ago must enter the password again before an invitation is created',
  async (t) => {
    const { signInStale, account } = await openConsole(t);
    const owner = await signInStale('owner');
    const { page } = owner;
    owner.allow(/403|422/);
    await owner.open('/settings/members');
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const proof = page.getByRole('dialog', { name: 'Is it you?' });
    await proof.getByLabel('Your password').fill('a wrong password');
    await proof.getByRole('button', { name: 'Go on' }).click();
    await proof.getByText('This is not your password.').waitFor();
    await owner.shoot('proof');
    await owner.checkAccessibility();
    // Cancelled: the typed text is still there, with the reason why nothing was saved.
    await page.keyboard.press('Escape');
    await page.getByText(/Confirm your identity/).waitFor();
    assert.equal(await page.getByLabel('E-mail address').inputValue(), 'grace@example.com');
    await page.getByRole('button', { name: 'Make a link' }).click();
    await proof.getByLabel('Your password').fill((await account('owner')).password);
    await proof.getByRole('button', { name: 'Go on' }).click();
    const dialog = page.getByRole('dialog', { name: 'grace@example.com is invited' });
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    // It holds for what comes next.
    await page.getByRole('button', { name: 'More for Owner Example' }).click();
    await page.getByRole('menuitem', { name: 'Make a link for another password' }).click();
    await page.getByLabel('API tokens go on working').check();
    await owner.shoot('settings-reset');
    await page.getByRole('button', { name: 'Make a link' }).click();
    await page.getByRole('dialog', { name: 'A link for owner@example.com' }).waitFor();
  },
);

testInBrowser(
  'a member without password and passkey re-authenticates at the identity provider in a separate window',
  async (t) => {
    const ada = { sub: 'u1', email: 'ada@example.com', email_verified: true, name: 'Ada' };
    const provider = await startIdentityProvider(ada);
    t.after(() => provider.close());
    const oidc = { issuer: provider.issuer, client_id: oidcClient.id, client_secret: oidcClient.secret };
    const rig = await openConsole(t, {
      config: { console: { port: 0, oidc: { ...oidc, title: 'Example', default_role: 'viewer' } } },
    });
    await rig.account('owner');
    const visitor = await rig.visit();
    visitor.allow(new RegExp(`403|another origin: ${provider.issuer}`));
    const { page, context } = visitor;
    await visitor.open('/settings/tokens');
    await page.getByRole('link', { name: /Example/ }).click();
    await page.getByRole('button', { name: 'Make a token' }).click();
    await page.getByLabel('Name').fill('nightly report');
    await page.getByRole('button', { name: 'Make it' }).click();
    const proof = page.getByRole('dialog', { name: 'Is it you?' });
    const anew = proof.getByRole('button', { name: 'Sign in anew with Example' });

    // A provider that does not authenticate again proves nothing, and the dialog reports it.
    const [refused] = await Promise.all([context.waitForEvent('page'), anew.click()]);
    await refused.getByRole('heading', { name: 'That was no proof' }).waitFor();
    await proof.getByText(/does not send the time of your sign-in/).waitFor();
    await visitor.shoot('proof-provider');
    await refused.close();

    provider.claims = { ...ada, auth_time: Math.floor(Date.now() / 1_000) };
    await anew.click();
    await page.getByRole('dialog', { name: 'The token nightly report' }).waitFor();
  },
);
