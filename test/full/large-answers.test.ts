/** Answers larger than anything should be held in memory. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type HeaderField, toChunk } from '../support/clients/http-message.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const json: HeaderField = ['Content-Type', 'application/json'];

test('a response of 60 MB passes byte for byte without being held in memory', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, 'vector digits 0.123456789,');
  const chunks = 60;
  const upstream = await startFakeUpstream(async (request, reply) => {
    const chunked = request.body.includes('chunked');
    await reply.head(200, [json, chunked ? ['Transfer-Encoding', 'chunked'] : lengthOfAll]);
    for (let i = 0; i < chunks; i += 1) {
      chunk.write(`[${String(i).padStart(3)}`, 0);
      await reply.raw(chunked ? toChunk(chunk) : chunk);
    }
    if (chunked) await reply.lastChunk();
  });
  t.after(() => upstream.close());
  const lengthOfAll: HeaderField = ['Content-Length', String(chunk.length * chunks)];
  const expected = createHash('sha256');
  for (let i = 0; i < chunks; i += 1) {
    chunk.write(`[${String(i).padStart(3)}`, 0);
    expected.update(chunk);
  }
  const digest = expected.digest('hex');

  const gateway = await startGatewayProcess({ config: toDocument(upstream.url) });
  t.after(() => gateway.stop());
  const askOnce = async (input: string): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input }),
    });
    assert.equal(response.status, 200);
    const seen = createHash('sha256');
    let peakBytes = 0;
    let bytes = 0;
    let pieces = 0;
    for await (const piece of response.body ?? []) {
      seen.update(piece);
      bytes += piece.length;
      // Not at every piece: looking would slow the reader down.
      if (pieces % 50 === 0) peakBytes = Math.max(peakBytes, await gateway.rssBytes());
      pieces += 1;
    }
    assert.equal(bytes, chunk.length * chunks);
    assert.equal(seen.digest('hex'), digest);
    return peakBytes;
  };
  const before = await gateway.rssBytes();
  for (const input of ['length', 'chunked']) {
    const grownMb = ((await askOnce(input)) - before) / 1e6;
    t.diagnostic(`60 MB by ${input}: the resident set grew by ${grownMb.toFixed(0)} MB at its peak`);
    assert.ok(grownMb < 150, `${grownMb} MB`);
  }
});
