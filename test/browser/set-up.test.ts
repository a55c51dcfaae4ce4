/** The page Set-up: a newcomer goes from the link of the first start to the first call and its row, over a real upstream. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const run = promisify(execFile);
const secret = 'sk-typed-0123456789';

testInBrowser(
  'the set-up page leads a new owner through upstream, model and key to a first successful call',
  async (t) => {
    const upstream = await startFakeUpstream((request, reply) => {
      if (request.header('authorization') !== `Bearer ${secret}`)
        return reply.json(401, { error: { message: 'Incorrect API key provided' } });
      if (request.method === 'GET')
        return reply.json(200, { object: 'list', data: [{ id: 'bge-m3' }, { id: 'something-else' }] });
      return reply.json(200, {
        ...{ object: 'list', model: 'bge-m3', usage: { prompt_tokens: 40, total_tokens: 40 } },
        data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
      });
    });
    t.after(() => upstream.close());
    const rig = await openConsole(t, { config: { upstreams: [] }, env: { POSTERN_SECRET_KEY: '11'.repeat(32) } });
    const visitor = await rig.visit();
    const { page, shoot, checkAccessibility } = visitor;
    visitor.allow(/40[0-9]|422/);
    await visitor.open(rig.setUpLink);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill('a long enough password');
    await shoot('set-up-account');
    await page.getByRole('button', { name: 'Become the owner' }).click();

    const step = (name: string) => page.getByRole('region', { name, exact: true });
    await step('Your account').getByText('Ada, owner').waitFor();
    await step('An upstream').getByLabel('What kind of service is it?').click();
    await page.getByRole('option', { name: /^OpenAI and compatible/ }).click();
    await step('An upstream').getByLabel('Name').fill('ours');
    await step('An upstream').getByLabel('Address').fill(`${upstream.url}/v1`);
    await step('An upstream').getByLabel('API key', { exact: true }).fill('sk-wrong-0123456789');
    await page.getByRole('button', { name: 'Test and add' }).click();
    await step('An upstream').getByText('refuses the credential (401)').waitFor();
    await page.getByRole('button', { name: 'Add it all the same' }).waitFor();
    await shoot('set-up-refused');
    await checkAccessibility();
    await step('An upstream').getByLabel('API key', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Test and add' }).click();

    await step('Models').getByRole('checkbox', { name: 'bge-m3' }).check();
    await step('Models').getByLabel('Price of bge-m3: 1M input tokens').fill('1000');
    await shoot('set-up-models');
    await checkAccessibility();
    await page.getByRole('button', { name: 'Add the model' }).click();

    await step('A key').getByLabel('Most it may spend in a day').fill('5');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await step('A key').getByText('its secret is shown only now', { exact: false }).waitFor();

    await page.getByRole('button', { name: 'Send it' }).click();
    const row = step('The first call').getByRole('table', { name: 'Its row in the ledger' });
    await row.getByRole('row', { name: /Upstream ours/ }).waitFor();
    await row.getByRole('row', { name: /Cost \$0\.04/ }).waitFor();
    await shoot('set-up-called');
    await checkAccessibility();
    assert.equal(await page.getByRole('img', { name: 'Done' }).count(), 5);

    const command = (await page.locator('.snippet-code').textContent()) ?? '';
    const { stdout } = await run('sh', ['-c', `${command} -s -o answer -w '%{http_code}'`], {
      cwd: rig.gateway.directory,
    });
    assert.equal(stdout, '200');
    await page.getByRole('link', { name: 'All of the row in the Explorer' }).click();
    await page.getByRole('dialog').getByText('Did you copy the secret?').waitFor();
    await shoot('set-up-left');
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByText('Answered with 200', { exact: false }).waitFor();
  },
);

testInBrowser(
  'set-up with the built-in models skips adding an upstream, and warns before an uncopied secret is lost',
  async (t) => {
    const rig = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
    const { page, open } = await rig.signIn();
    await open('/');
    await page.getByRole('link', { name: 'Set up', exact: true }).click();
    await page.getByRole('button', { name: 'Continue with the built-in models' }).click();
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByRole('button', { name: 'Send it' }).click();
    await page.getByRole('table', { name: 'Its row in the ledger' }).waitFor();
    await page.getByRole('button', { name: 'Make another' }).click();
    const question = page.getByRole('dialog', { name: 'Did you copy the secret?' });
    await question.getByText('Cancel').click();
    await question.waitFor({ state: 'detached' });
    // With the secret copied, nothing is asked.
    await page.getByRole('button', { name: 'Copy the secret' }).click();
    await page.getByRole('link', { name: 'Go to the Overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Set up', exact: true }).waitFor({ state: 'detached' });
  },
);
