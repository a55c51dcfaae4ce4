/** Moderations: texts to verdicts, by their place. */

import { Unfit } from '../../core/translation.ts';
import { type Codec, eachOf, holdsOnly, oneOf, type Result } from './codec.ts';
import { readEnvelope } from './envelope.ts';

export const verdicts: Codec = {
  idle: ['user'],

  /** A list of parts, such as of a text and an image, is one input. */
  itemsOf(request) {
    const { list } = request;
    if (list.kind === 'string' || holdsOnly(list, 'object')) return oneOf(request);
    return holdsOnly(list, 'string') ? eachOf(request) : undefined;
  },

  read(bytes, { items }) {
    const results: { item: number; result: Result }[] = [];
    const envelope = readEnvelope(bytes, {
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
