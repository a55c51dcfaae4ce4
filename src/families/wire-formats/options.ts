/** Makes options that several upstream families share. */

import type { FamilyOption } from '../../core/family.ts';

/** An option for the number of items in a call, where the operator knows better than the family. */
export const itemsInACall = (description: string, standard: number): FamilyOption => ({
  description,
  pattern: /^[1-9]\d{0,6}$/,
  form: 'a whole number from 1',
  default: String(standard),
});
