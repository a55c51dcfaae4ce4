/** Measures which objects survive young-generation garbage collection, to detect references held too long. */

import v8 from 'node:v8';
import vm from 'node:vm';

const rounds = 40;
const stepsARound = 500;

/** Bytes by which old memory grew while `step` was taken 20,000 times, with a collection of the young alone every 500. */
export function promotedBytes(step: (index: number) => void): number {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  if (typeof collect !== 'function') throw new TypeError('the engine does not let itself be asked to collect');
  const oldBytes = (): number => {
    collect({ type: 'minor' });
    return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
  };
  // What every server has: a beginning after which nothing happens for a while, so that what is there grows old.
  for (let index = 0; index < 10; index += 1) step(index);
  for (let each = 0; each < 4; each += 1) oldBytes();
  let before = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < stepsARound; index += 1) step(round * stepsARound + index);
    const bytes = oldBytes();
    // By then what stays has been moved.
    if (round === 4) before = bytes;
  }
  return oldBytes() - before;
}
