/** The routes that an upstream of family `openai` serves. */

import type { Route } from '../../../src/core/route.ts';
import { routes } from '../../../src/routes/index.ts';

export const openaiRoutes: readonly Route[] = routes.filter(
  ({ label, entry }) => label !== 'anthropic' && entry === undefined,
);
