/** What the console says is so: what a model serves, how things are, where they are found, and what would be lost. */

import assert from 'node:assert/strict';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

testInBrowser(
  "adding a model whose operation neither the upstream's list nor its name shows requires a choice",
  async (t) => {
    const upstream = await startFakeUpstream((request, reply) =>
      request.path.endsWith('/models')
        ? reply.json(200, { object: 'list', data: [{ id: 'house-model' }, { id: 'bge-reranker-v2' }] })
        : reply.json(500, { error: { message: 'out of order' } }),
    );
    t.after(() => upstream.close());
    const ours = { id: 'ours', family: 'openai', base_url: upstream.url, api_key: 'sk-fake-upstream-key' };
    const { signIn, ask } = await openConsole(t, { config: { upstreams: [ours] } });
    const editor = await signIn('editor');
    const { page } = editor;
    await editor.open('/models');
    await page.getByRole('button', { name: 'Add models' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add models' });
    await dialog.getByRole('checkbox', { name: 'house-model' }).check();
    await dialog.getByRole('checkbox', { name: 'bge-reranker-v2' }).check();
    await dialog.getByText('Neither its list nor its name says what it is for: choose.').waitFor();
    const add = dialog.getByRole('button', { name: 'Add 2 models' });
    assert.equal(await add.isDisabled(), true);
    await editor.shoot('models-add-unclear');
    await dialog.getByLabel('What house-model serves').first().click();
    await page.getByRole('option', { name: 'Embeddings' }).click();
    await page.keyboard.press('Escape');
    await add.click();
    await dialog.waitFor({ state: 'detached' });
    const served = async (id: string) => (await ask('GET', `/api/models/${id}`)).document.operations;
    assert.deepEqual([await served('house-model'), await served('bge-reranker-v2')], [['embeddings'], ['rerank']]);
    await page
      .getByRole('row', { name: /house-model/ })
      .getByText('Unknown')
      .last()
      .waitFor();
  },
);

testInBrowser('leaving an edited form asks for confirmation, and the command palette finds keys by name', async (t) => {
  const { signIn, ask } = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
  await ask('POST', '/api/keys', { name: 'Nightly import' });
  const admin = await signIn('admin');
  const { page } = admin;
  await admin.open('/models?model=');
  await page.getByLabel('Name for clients').fill('mine');
  const leaving = page.getByRole('dialog', { name: 'Leave without saving?' });
  await page.getByRole('link', { name: 'Explorer' }).first().click();
  await leaving.getByRole('button', { name: 'Cancel' }).last().click();
  assert.equal(await page.getByLabel('Name for clients').inputValue(), 'mine');
  await page.getByRole('link', { name: 'Explorer' }).first().click();
  await leaving.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Explorer', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder(/Go to a page/).fill('nightly');
  await page.getByText('Nightly import').first().click();
  await page.getByRole('heading', { name: /Nightly import/ }).waitFor();
});

testInBrowser(
  'after a rerank, the first ranked document and the Rerank button are both visible without scrolling',
  async (t) => {
    const { signIn } = await openConsole(t, { config: { upstreams: [{ id: 'local', family: 'local' }] } });
    const editor = await signIn('editor');
    const { page } = editor;
    await page.setViewportSize({ width: 1440, height: 900 });
    await editor.open('/playground?route=rerank');
    const button = page.getByRole('button', { name: 'Rerank', exact: true });
    const yet = page.getByText('Documents as they will be sent; nothing is ranked yet');
    await yet.waitFor();
    await button.scrollIntoViewIfNeeded();
    await button.click();
    const first = page.getByRole('list', { name: 'Documents, the best first' }).getByRole('listitem').first();
    await first.waitFor();
    assert.equal(await yet.count(), 0);
    for (const one of [first, button]) {
      const box = (await one.boundingBox()) ?? assert.fail('it is not there');
      assert.ok(box.y >= 0 && box.y + box.height <= 900, `${box.y} to ${box.y + box.height}`);
    }
    await page.screenshot({ path: 'test/artifacts/console/playground-beside-1440.png' });
  },
);
