import assert from 'node:assert/strict';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { choose, press, resultOf, shoot, tabOf } from '../support/console/playground.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

testInBrowser(
  'the playground sends a typed JSON body to a route without its own tab, with the model in body or path',
  async (t) => {
    const upstream = await startFakeUpstream((_request, reply) =>
      reply.json(200, { input_tokens: 14, totalTokens: 15 }),
    );
    t.after(() => upstream.close());
    const config = {
      upstreams: [
        { id: 'claude', family: 'anthropic', base_url: upstream.url, api_key: 'sk-claude-upstream-key' },
        { id: 'google', family: 'gemini', base_url: upstream.url, api_key: 'google-upstream-key' },
      ],
      models: [
        { id: 'counter', operations: ['count_tokens'], targets: [{ upstream: 'claude' }] },
        { id: 'writer', operations: ['generate'], targets: [{ upstream: 'google', model: 'gemini-2.5-flash' }] },
      ],
    };
    const postern = await openConsole(t, { config });
    const { page, ...visitor } = await postern.signIn('editor');
    await visitor.open(tabOf('rerank'));
    await page.getByRole('tab', { name: 'Any route' }).click();
    await choose(page, 'Route', 'Token counts');
    await page.getByRole('combobox', { name: 'Model', exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Body' }).fill('{"messages": [{"role": "user", "content": "gate"}]}');
    await press(page, 'Send');
    await resultOf(page).getByText('"input_tokens": 14').waitFor();
    assert.deepEqual(JSON.parse(upstream.requests[0]?.body.toString() ?? ''), {
      model: 'counter',
      messages: [{ role: 'user', content: 'gate' }],
    });
    await page.getByRole('textbox', { name: 'Body' }).fill('{');
    await page.getByText('This is not JSON yet.').first().waitFor();
    await visitor.checkAccessibility();

    await visitor.open(tabOf('generate'));
    await press(page, 'Send');
    await resultOf(page).getByText('"totalTokens": 15').waitFor();
    assert.match(upstream.requests[1]?.path ?? '', /\/models\/gemini-2\.5-flash:generateContent$/);
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-any');
  },
);
