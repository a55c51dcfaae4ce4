/** The routes that an upstream of family `openai` serves, and that take JSON. */

import type { Route } from '../../../src/core/route.ts';
import { routes } from '../../../src/routes/index.ts';

export const openaiRoutes: readonly Route[] = routes.filter(
  ({ label, entry, form }) => label !== 'anthropic' && label !== 'gemini' && entry === undefined && form?.only !== true,
);
