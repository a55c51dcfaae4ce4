/** The live stream, as a reader gets it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { until } from '../../../../test/support/time/until.ts';
import type { AdminContext } from '../../context.ts';
import type { LiveFrame, LiveSource } from '../live/sampler.ts';
import { getLive } from './state.ts';

test('the live stream begins with the history, continues with each sample, and stops when the reader disconnects', async (t) => {
  const { context } = await openAdmin(t);
  let listener: ((frame: LiveFrame) => void) | undefined;
  let isWatched = false;
  const live: LiveSource = {
    ...context.live,
    watch(wanted) {
      listener = wanted;
      isWatched = true;
      return {
        history: [],
        upstreams: [],
        close() {
          isWatched = false;
        },
      };
    },
  };
  const gone = new AbortController();
  const own: AdminContext = { ...context, live };
  const caller = await context.access.identify(new Headers());
  const response = await getLive.run({
    params: undefined,
    query: undefined,
    body: undefined,
    caller,
    context: own,
    headers: new Headers(),
    address: '127.0.0.1',
    signal: gone.signal,
    raw: async () => Buffer.alloc(0),
  });
  assert.ok(response instanceof Response);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const reader = response.body?.getReader();
  assert.ok(reader);
  const read = async (until: string): Promise<string> => {
    let text = '';
    while (!text.includes(until)) text += Buffer.from((await reader.read()).value ?? []).toString();
    return text;
  };
  assert.match(await read('"isHistory":true'), /"samples":\[\]/);
  listener?.({ sample: undefined, upstreams: [] });
  assert.match(await read('"isHistory":false'), /"isBehind":true/);
  gone.abort();
  await until(() => !isWatched);
  assert.equal(isWatched, false);
});

test('a HEAD request to the live stream opens no stream and takes no slot', async (t) => {
  const { ask, context } = await openAdmin(t);
  for (const path of ['/api/live', '/api/ledger/tail', '/api/ledger/export?format=csv']) {
    const { status, headers } = await ask('HEAD', path);
    assert.deepEqual([status, headers.get('allow')], [405, 'GET'], path);
  }
  assert.equal(context.streams.size, 0);
  assert.equal((await ask('HEAD', '/api/members')).status, 200);
});
