import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../problem.ts';
import { readBody } from './api.ts';

function withBody(body: ReadableStream<Uint8Array>): Request {
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' });
}

test("a truncated request body is answered as the caller's fault and logs no error", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })),
  });
  await assert.rejects(
    readBody(withBody(broken), 10),
    (error) => error instanceof Problem && error.code === 'malformed_request',
  );
});

test('a request body without Content-Length is read up to the limit and no further', async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 1;
      controller.enqueue(new Uint8Array(4));
    },
  });
  await assert.rejects(
    readBody(withBody(endless), 10),
    (error) => error instanceof Problem && error.code === 'body_too_large',
  );
  assert.ok(pulled < 10, `${pulled} pieces were read`);
});
