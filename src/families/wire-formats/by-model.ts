/** For services that are spoken to in several ways: whose a model is shows in its name. */

import { limitsFor } from '../../core/list-limits.ts';
import type { Translation } from '../../core/translation.ts';

export function byModel(translationOf: (model: string) => Translation): Translation {
  return {
    limits: (model, options) => limitsFor(translationOf(model).limits, model, options),
    ask: (asked) => translationOf(asked.model).ask(asked),
  };
}
