import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { choose, press, shoot, tabOf } from '../support/console/playground.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function openImages(t: TestContext, handler: Handler) {
  const upstream = await startFakeUpstream(handler);
  t.after(() => upstream.close());
  const config = {
    upstreams: [{ id: 'painters', family: 'openai', base_url: upstream.url, api_key: 'sk-painters-upstream-key' }],
    models: [
      {
        id: 'painter',
        operations: ['images', 'image_edits'],
        price: { image: 0.04 },
        targets: [{ upstream: 'painters' }],
      },
      { id: 'sketcher', operations: ['images'], targets: [{ upstream: 'painters' }] },
    ],
  };
  const postern = await openConsole(t, { config });
  const visitor = await postern.signIn('editor');
  await visitor.open(tabOf('images'));
  return { upstream, visitor, page: visitor.page };
}

testInBrowser(
  'generated images are shown and can be saved; an image given by URL is a link and is not loaded',
  async (t) => {
    const { upstream, visitor, page } = await openImages(t, (_request, reply) => {
      const { model } = JSON.parse(_request.body.toString());
      const inline = { b64_json: pixel, revised_prompt: 'A gate <b>in ink</b>' };
      const elsewhere = { url: 'https://pictures.example/gate.png' };
      return reply.json(200, { created: 1, data: model === 'painter' ? [inline, { b64_json: pixel }] : [elsewhere] });
    });
    await choose(page, 'Model', 'painter');
    await choose(page, 'Compare with', 'sketcher');
    await page.getByRole('button', { name: /^Options/ }).click();
    await page.getByRole('textbox', { name: 'n', exact: true }).fill('2');
    await page.getByRole('combobox', { name: 'size' }).fill('1024x1024');
    await page.keyboard.press('Escape');
    await press(page, 'Make');
    const picture = page.getByRole('img', { name: 'A gate <b>in ink</b>' });
    await picture.waitFor();
    await page.getByText('$0.08').waitFor();
    const link = page.getByRole('link', { name: 'Open picture 1 in a new tab' });
    assert.equal(await link.getAttribute('href'), 'https://pictures.example/gate.png');
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
    const bodies = upstream.requests.map(({ body }) => JSON.parse(body.toString()));
    assert.deepEqual(
      bodies.map(({ n, size, prompt }) => [n, size, typeof prompt]),
      [
        [2, '1024x1024', 'string'],
        [2, '1024x1024', 'string'],
      ],
    );
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save' }).first().click();
    const saved = await saving;
    assert.equal(saved.suggestedFilename(), 'painter-1.png');
    assert.equal((await readFile(await saved.path())).toString('base64'), pixel);
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-images');
  },
);

testInBrowser(
  'an image edit is sent as a multipart form with the chosen file, as the shown curl command says',
  async (t) => {
    const { upstream, visitor, page } = await openImages(t, (_request, reply) =>
      reply.json(200, { data: [{ b64_json: pixel }] }),
    );
    await page.getByRole('radio', { name: 'Image edits' }).locator('xpath=following-sibling::label').click();
    await choose(page, 'Model', 'painter');
    await page.getByRole('combobox', { name: 'Model', exact: true }).click();
    await page.getByRole('option', { name: 'painter' }).waitFor();
    assert.equal(await page.getByRole('option', { name: 'sketcher' }).count(), 0, 'it changes no pictures');
    await page.keyboard.press('Escape');
    const file = { name: 'gate.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') };
    await page.getByRole('group', { name: 'Pictures to work from' }).locator('input[type=file]').setInputFiles([file]);
    await page.getByRole('textbox', { name: 'Prompt' }).fill('At night; with a lantern');
    const curl = (await page.locator('.snippet-code').first().textContent()) ?? '';
    assert.match(curl, /--form-string 'prompt=At night; with a lantern' \\\n\s+-F 'image=@gate.png'/);
    await press(page, 'Make');
    await page.getByRole('img', { name: 'Number 1 of what was made' }).waitFor();
    const [request] = upstream.requests;
    assert.equal(request?.path, '/images/edits');
    assert.match(request?.header('content-type') ?? '', /^multipart\/form-data; boundary=/);
    const body = request?.body.toString('latin1') ?? '';
    assert.match(body, /name="model"\r\n\r\npainter\r\n/);
    assert.match(body, /name="prompt"\r\n\r\nAt night; with a lantern\r\n/);
    assert.ok(body.includes(file.buffer.toString('latin1')));
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-images-edit');
  },
);

testInBrowser(
  'SVG, javascript: URLs and other data that is no safe image are not shown as images or links',
  async (t) => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"/>').toString('base64');
    const { page } = await openImages(t, (_request, reply) =>
      reply.json(200, {
        data: [
          { b64_json: svg },
          { url: `data:image/svg+xml;base64,${svg}` },
          { url: 'javascript:window.hacked=1' },
          null,
        ],
      }),
    );
    await press(page, 'Make');
    await page.getByText('Picture 4 cannot be shown.').waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    assert.equal(await page.locator('main figure a').count(), 0);
    assert.equal(await page.evaluate('window.hacked'), undefined);
  },
);
