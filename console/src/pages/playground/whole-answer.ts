/** Makes a complete response of the gateway, for tests. */

import type { Answer } from './call.ts';

type Parts = Pick<Answer, 'call' | 'json'> & Partial<Answer>;

export const wholeAnswer = (parts: Parts): Answer => ({
  ending: 'answered',
  status: 200,
  headers: {},
  requestId: undefined,
  text: '',
  bytes: 0,
  isStream: false,
  sound: undefined,
  fault: undefined,
  firstByteMs: 0,
  totalMs: 0,
  ...parts,
});
