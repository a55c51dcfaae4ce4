/** Describes, for an error message, bytes that should be JSON but are not. */

import type { Buffer } from 'node:buffer';

export function whatIsNoJson(bytes: Buffer, fault: string): string {
  const start = bytes.toString('latin1', 0, 200).trimStart();
  if (start === '') return 'its body is empty';
  return start.startsWith('<') ? 'a page came instead of JSON' : `its body is no JSON: ${fault}`;
}
