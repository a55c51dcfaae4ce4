/** What a model's page says of its lists: what is remembered, that an upstream has changed it, and how it agrees with another one. */

import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

testInBrowser('a model that has changed is told of, and what is remembered can be forgotten', async (t) => {
  let turned = 0;
  const script: Handler = (request, reply) => {
    const { input } = JSON.parse(request.body.toString()) as { input: string | string[] };
    const data = [input].flat().map((text, index) => ({
      object: 'embedding',
      index,
      embedding: turned === 0 ? [text.length, 1, 0] : [0, 1, text.length],
    }));
    return reply.json(200, { object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } });
  };
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const rig = await openConsole(t, {
    config: {
      upstreams: [{ id: 'ours', family: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-0123456789' }],
      models: [
        {
          id: 'embedder',
          operations: ['embeddings'],
          cache: { ttl: '1h' },
          coalesce: {},
          shadow: { model: 'newer', share: 1 },
          canary: { texts: ['one', 'three'], every: '1s' },
          targets: [{ upstream: 'ours' }],
        },
        { id: 'newer', operations: ['embeddings'], targets: [{ upstream: 'ours', model: 'newer' }] },
      ],
    },
  });
  const visitor = await rig.signIn('editor');
  const { page } = visitor;
  await visitor.open('/models');
  await page.getByRole('link', { name: 'embedder', exact: true }).click();
  const drawer = page.locator('aside, .subject');
  await drawer.getByText('Items are remembered for 1h, for each project, 64MiB in each process.').waitFor();
  await drawer.getByText('100 % of its requests go to newer as well.').waitFor();
  await drawer.getByRole('table', { name: 'Canaries' }).getByText('1.000').waitFor();
  // What is seen of it at a glance.
  const embed = async (input: string): Promise<void> => {
    const response = await fetch(`${rig.gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'embedder', input }),
    });
    await response.arrayBuffer();
  };
  const overview = await rig.signIn('viewer');
  await overview.open('/');
  await overview.page.getByRole('region', { name: 'Agreement' }).getByText('Fixed texts at ours: embedder').waitFor();
  const sending = setInterval(() => void embed('the same'), 100);
  t.after(() => clearInterval(sending));
  await overview.page.getByText('With newer, by the angle between vectors').waitFor();
  await overview.shoot('overview-lists');
  await overview.open('/explorer?range=5m');
  await overview.until(`(document.querySelector('.live-words')?.textContent ?? '') === 'Following'`);
  await overview.page.getByText(/were cached, which saved/).waitFor();
  clearInterval(sending);
  await overview.checkAccessibility();
  await overview.open('/explorer?key=test&model=embedder');
  await overview.page.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1).click();
  await overview.shoot('request-saved');
  await overview.page.getByText('Remembered, and asked of nobody: 1 item, 1 token.').waitFor();
  turned = 1;
  await drawer.getByText('An upstream has changed this model').waitFor({ timeout: 20_000 });
  await visitor.shoot('model-changed');
  await visitor.checkAccessibility();
  await drawer.getByRole('button', { name: 'Take it as it is now' }).click();
  await drawer.getByText('An upstream has changed this model').waitFor({ state: 'detached', timeout: 20_000 });
  await drawer.getByRole('button', { name: 'Forget what is remembered' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
  await page.getByText('What was remembered is forgotten on every node.').waitFor();
});
