import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { choose, press, shoot, tabOf } from '../support/console/playground.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** Half a second of silence. */
const wave = toWave(Buffer.alloc(8_000, 0x80));

function toWave(samples: Buffer): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

async function openAudio(t: TestContext, route: string, handler: Handler) {
  const upstream = await startFakeUpstream(handler);
  t.after(() => upstream.close());
  const model = (id: string, operations: readonly string[], price: object) => ({
    id,
    operations,
    price,
    targets: [{ upstream: 'studio' }],
  });
  const config = {
    upstreams: [{ id: 'studio', family: 'openai', base_url: upstream.url, api_key: 'sk-studio-upstream-key' }],
    models: [
      model('reader', ['speech'], { character: 1 }),
      model('other-reader', ['speech'], { character: 1 }),
      model('listener', ['transcriptions', 'translations'], { minute: 0.006 }),
    ],
  };
  const postern = await openConsole(t, { config });
  const visitor = await postern.signIn('editor');
  await visitor.open(tabOf(route));
  return { upstream, visitor, page: visitor.page };
}

testInBrowser(
  'two speech models read the same text side by side, and each recording can be played and saved',
  async (t) => {
    const { upstream, visitor, page } = await openAudio(t, 'speech', (_request, reply) =>
      reply.bytes(200, [['content-type', 'audio/wav']], wave),
    );
    await choose(page, 'Compare with', 'other-reader');
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Open the gate.');
    await press(page, 'Read aloud');
    const player = page.getByLabel('What reader read', { exact: true });
    await player.waitFor();
    await page.getByLabel('What other-reader read', { exact: true }).waitFor();
    await page.getByText('500 ms', { exact: false }).first().waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save' }).first().click();
    const saved = await saving;
    assert.equal(saved.suggestedFilename(), 'speech.wav');
    assert.deepEqual(await readFile(await saved.path()), wave, 'byte for byte');
    assert.deepEqual(
      upstream.requests.map(({ body }) => JSON.parse(body.toString()).input),
      ['Open the gate.', 'Open the gate.'],
    );
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-speech');
  },
);

testInBrowser('an audio file is transcribed, and its text, duration, segments and cost are shown', async (t) => {
  const { upstream, visitor, page } = await openAudio(t, 'transcriptions', (_request, reply) =>
    reply.json(200, {
      text: 'Open <b>the</b> gate.',
      language: 'english',
      duration: 75.5,
      segments: [
        { start: 0, text: 'Open' },
        { start: 61.2, text: ' <b>the</b> gate.' },
      ],
    }),
  );
  await page
    .getByRole('group', { name: 'Recording' })
    .locator('input[type=file]')
    .setInputFiles([{ name: 'gate.wav', mimeType: 'audio/wav', buffer: wave }]);
  await page.getByLabel('The recording', { exact: true }).waitFor();
  await page.getByRole('button', { name: /^Options/ }).click();
  await choose(page, 'response_format', 'verbose_json');
  await press(page, 'Write down');
  await page.getByTestId('heard').getByText('Open <b>the</b> gate.').waitFor();
  await page.getByText('1.26 min long, language: english').waitFor();
  await page.getByRole('list', { name: 'Parts' }).getByText('1:01').waitFor();
  await page.getByText('$0.00', { exact: false }).first().waitFor();
  const body = upstream.requests[0]?.body.toString('latin1') ?? '';
  assert.ok(body.includes(wave.toString('latin1')), 'byte for byte');
  assert.match(body, /name="response_format"\r\n\r\nverbose_json\r\n/);
  await visitor.checkAccessibility();
  await shoot(visitor, page, 'playground-transcription');
});

testInBrowser('a microphone recording is translated, and a refused microphone permission is explained', async (t) => {
  const { upstream, visitor, page } = await openAudio(t, 'translations', (_request, reply) =>
    reply.json(200, { text: 'A beep.' }),
  );
  const record = page.getByRole('button', { name: 'Record', exact: true });
  await record.click();
  await page.getByText('The microphone was not given to this page.', { exact: false }).waitFor();
  await visitor.context.grantPermissions(['microphone']);
  await record.click();
  await page.getByText(/^[1-9]\d* s$/).waitFor();
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.getByText(/^recording\.webm, /).waitFor();
  await press(page, 'Write down');
  await page.getByTestId('heard').getByText('A beep.').waitFor();
  assert.equal(upstream.requests[0]?.path, '/audio/translations');
  assert.match(
    upstream.requests[0]?.body.toString('latin1') ?? '',
    /filename="recording\.webm"\r\nContent-Type: audio\/webm/,
  );
  // Above its end something is always half covered by the bar that stays in sight.
  await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
  await visitor.checkAccessibility();
});
