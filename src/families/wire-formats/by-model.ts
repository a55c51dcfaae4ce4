/** Chooses a wire format by the model's vendor, for services with several. */

import { limitsFor } from '../../core/list-limits.ts';
import type { Translation } from '../../core/translation.ts';

export function byModel(translationOf: (model: string) => Translation): Translation {
  return {
    limits: (model, options) => limitsFor(translationOf(model).limits, model, options),
    ask: (asked) => translationOf(asked.model).ask(asked),
  };
}
