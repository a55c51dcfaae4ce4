/** A family's offers under any label. */

import type { Offers } from '../../src/core/family.ts';
import { labels } from '../../src/core/label.ts';
import { type Operation, operations } from '../../src/core/operations/index.ts';

export function offeredIn(offers: Offers): Operation[] {
  return operations.filter((operation) => labels.some((label) => offers[label]?.[operation] !== undefined));
}
