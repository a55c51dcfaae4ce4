/** What another gateway's keys and teams may do, in our words. */

import type { Draft, NewHolder } from './draft.ts';
import type { Part } from './part.ts';

/** Of the models that a key names, those that there are; a key that may use none of them is left out, and never may use all. */
export function knownOf(
  part: Part,
  named: readonly string[],
  name: string,
  draft: Draft,
): readonly string[] | undefined | 'none' {
  if (named.length === 0) return undefined;
  const known = named.filter((model) => draft.hasModel(model));
  for (const model of named)
    if (!known.includes(model)) part.note(`there is no model ${model}: "${name}" goes without`);
  if (known.length > 0) return known;
  part.note(`"${name}" may use no model that there is: left out`);
  return 'none';
}

const periods: Readonly<Record<string, string>> = {
  '1d': 'day',
  '24h': 'day',
  '7d': 'week',
  '1w': 'week',
  '30d': 'month',
  '31d': 'month',
  '1mo': 'month',
};

/** LiteLLM's names for them. */
export function capsOf(part: Part): Omit<NewHolder, 'models'> {
  const limits = {
    requests_per_minute: part.number('rpm_limit') || undefined,
    tokens_per_minute: part.number('tpm_limit') || undefined,
    concurrency: part.number('max_parallel_requests') || undefined,
  };
  const isLimited = Object.values(limits).some((limit) => limit !== undefined);
  return { limits: isLimited ? limits : undefined, budgets: budgetsOf(part) };
}

function budgetsOf(part: Part): NewHolder['budgets'] {
  const amount = part.number('max_budget');
  const duration = part.text('budget_duration');
  if (amount === undefined || amount <= 0) return undefined;
  const every = duration === undefined ? 'total' : periods[duration];
  if (every !== undefined) return [{ every, amount }];
  part.note(`there is no budget for ${duration} here: day, week, month or total`, 'budget_duration');
  return undefined;
}
