/** What a bill is of beside tokens and search units, for its row. */

import type { Asking } from '../core/accounting/price.ts';
import type { Units } from '../core/accounting/units.ts';
import type { Pictures, Usage } from '../core/accounting/usage.ts';

interface Counted {
  readonly images: number;
  readonly seconds: number;
  readonly characters: number;
  readonly cacheWriteTokens: number;
}

/** Most requests have none of it, and nothing is made for them. */
export function unitsOf(
  counted: Counted,
  usage: Usage | null,
  asking: Asking,
  seen: Pictures | undefined,
): Units | undefined {
  const { images, seconds, characters, cacheWriteTokens } = counted;
  const said = usage?.units;
  if (said === undefined && images + seconds + characters + cacheWriteTokens === 0) return undefined;
  return {
    ...said,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(seconds > 0 && { seconds }),
    ...(characters > 0 && { characters }),
    ...(images > 0 && { images, ...pictureOf(asking, seen) }),
  };
}

function pictureOf({ picture }: Asking, seen: Pictures | undefined): Pick<Units, 'imageSize' | 'imageQuality'> {
  const imageSize = seen?.size ?? picture?.size;
  const imageQuality = seen?.quality ?? picture?.quality;
  return { ...(imageSize !== undefined && { imageSize }), ...(imageQuality !== undefined && { imageQuality }) };
}
