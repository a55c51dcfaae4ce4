import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldHeapBytes } from '../../test/support/held-bytes.ts';
import type { MemoryLease } from '../core/memory-lease.ts';
import type { Upload } from '../core/upload.ts';
import type { ServerRequest } from '../wire/server-request.ts';
import { UploadReading } from './upload-reading.ts';

const lease: MemoryLease = { bytes: 0, growTo: () => true, shrinkTo: () => undefined, release: () => undefined };
const spool = {
  open: () => {
    throw new Error('nothing here is long');
  },
};
const request = { read: () => undefined, pause: () => undefined, resume: () => undefined };

function begin(): { readonly reading: UploadReading; readonly whole: Promise<Upload> } {
  const plan = { limitBytes: 1024 ** 2, boundary: 'x' };
  const reading = new UploadReading(
    request as unknown as ServerRequest,
    plan,
    { memory: lease, disk: lease, spool },
    { onBodyRead: () => undefined },
  );
  return { reading, whole: reading.whole() };
}

test('a form field of 64 KiB that arrives byte by byte takes less than 1 MiB of memory', async () => {
  const { reading, whole } = begin();
  const text = 'abcdefgh'.repeat(8 * 1024 - 1);
  reading.onBody(Buffer.from('--x\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n'));
  const startBytes = heldHeapBytes();
  for (const byte of Buffer.from(text)) reading.onBody(Buffer.from([byte]));
  const heldBytes = heldHeapBytes() - startBytes;
  reading.onBody(Buffer.from('\r\n--x--\r\n'));
  reading.onBodyEnd();
  const { parts } = await whole;
  assert.equal(parts[0]?.text?.toString(), text);
  // Of 64 KiB, of which each byte by itself is a hundred.
  assert.ok(heldBytes < 1024 ** 2, `${heldBytes} bytes`);
});
