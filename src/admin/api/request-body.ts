/** Reads a body up to a limit. */

import { Problem } from '../problem.ts';

export async function readBody(request: Request, limitBytes: number): Promise<Buffer> {
  const tooLarge = (): Problem =>
    new Problem('body_too_large', { detail: `The body may have ${limitBytes} bytes at most; send less.` });
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > limitBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    // Whoever hangs up early must not fill the log: nobody is there any more, and nothing is wrong here.
    throw new Problem('malformed_request', { detail: 'The body broke off; send it again.' });
  }
  return Buffer.concat(chunks);
}
