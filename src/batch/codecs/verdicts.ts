/** Reads moderation requests and answers item by item: the items are texts, the results the verdicts on them, in the same order. */

import { Unfit } from '../../core/translation.ts';
import { type Codec, holdsOnly, type Result } from './codec.ts';
import { readEnvelope } from './envelope.ts';

export const verdicts: Codec = {
  idle: ['user'],

  /** Each text is an item; a list of parts, such as a text with an image, is one item as a whole. */
  takes(request) {
    const { list } = request;
    if (list.kind === 'string' || holdsOnly(list, 'object')) return 'one';
    return holdsOnly(list, 'string') ? 'each' : undefined;
  },

  *read(bytes, { items }) {
    const results: { item: number; result: Result }[] = [];
    const envelope = yield* readEnvelope(bytes, {
      lists: ['results'],
      element(walk, item) {
        const { start, end } = walk.object(() => void walk.value());
        results.push({ item, result: { bytes: bytes.subarray(start, end), index: undefined } });
      },
    });
    if (results.length !== items) throw new Unfit(`${results.length} results for ${items} inputs`);
    return { envelope, results };
  },
};
