/** How often calls succeed, beside the word that says how something is. */

import { Text } from '@mantine/core';
import { formatCount, formatPercent } from '../words/format.ts';

interface SuccessProps {
  readonly calls: number;
  readonly failedCalls: number;
}

/** Empty where nothing was called lately: then there is nothing to say. */
export function Success({ calls, failedCalls }: SuccessProps) {
  if (calls === 0) return null;
  return (
    <Text size="xs" component="span" className={failedCalls === 0 ? 'success-note' : 'success-note tone-bad'}>
      {successWords({ calls, failedCalls })}
    </Text>
  );
}

function successWords({ calls, failedCalls }: SuccessProps): string {
  const share = formatPercent((calls - failedCalls) / calls);
  return `${share} of ${formatCount(calls)} ${calls === 1 ? 'call' : 'calls'} in 5 min`;
}
