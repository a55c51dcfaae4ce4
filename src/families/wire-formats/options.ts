/** Family options shared by several families. */

import type { FamilyOption } from '../../core/family.ts';

/** Items in a call, where the operator knows better. */
export const itemsInACall = (description: string, standard: number): FamilyOption => ({
  description,
  pattern: /^[1-9]\d{0,6}$/,
  form: 'a whole number from 1',
  default: String(standard),
});
