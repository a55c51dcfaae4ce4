/** Every family there is; the configuration's list of families derives from it. */

import type { Family } from '../core/family.ts';
import local from './local.ts';
import openai from './openai.ts';

export const families: readonly Family[] = [openai, local];
