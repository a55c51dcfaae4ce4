/** Parses the beginning of a response strictly. */

import { createMessageReader, parseFraming } from './http-message.ts';

export interface AnswerBeginning {
  readonly headComplete: boolean;
  readonly body: Buffer;
  readonly complete: boolean;
}

export function readBeginning(bytes: Buffer): AnswerBeginning {
  let headComplete = false;
  let complete = false;
  const body: Buffer[] = [];
  const reader = createMessageReader({
    onHead(head) {
      headComplete = true;
      return parseFraming(head.headers) ?? { kind: 'none' };
    },
    onBody: (piece) => body.push(piece),
    onComplete: () => {
      complete = true;
    },
  });
  reader.push(bytes);
  return { headComplete, body: Buffer.concat(body), complete };
}
