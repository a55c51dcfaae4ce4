/** The JSON routes that an upstream of family `openai` serves. */

import { isOpenai } from '../../../src/core/label.ts';
import type { Route } from '../../../src/core/route.ts';
import { routes } from '../../../src/routes/index.ts';

const ofOthers: ReadonlySet<Route['label']> = new Set(['anthropic', 'gemini', 'interactions']);

export const openaiRoutes: readonly Route[] = routes.filter(
  ({ label, entry, form }) => !ofOthers.has(label) && entry === undefined && form?.only !== true,
);

/** Where an upstream of family `openai` has the route, under its base URL. */
export const pathUpstream = ({ label, path, row }: Route): string =>
  (isOpenai(label) ? path : row.path).slice('/v1'.length);
