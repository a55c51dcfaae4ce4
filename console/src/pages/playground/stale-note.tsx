/** Says when the form was changed since the answer that is shown. */

import { Text } from '@mantine/core';
import type { Answer, Call } from './call.ts';

export function StaleNote({ answer, call }: { readonly answer: Answer | undefined; readonly call: Call }) {
  if (answer === undefined || isSame(answer.call, call)) return null;
  return (
    <Text size="xs" className="tone-wait">
      You changed something since; this is the answer to what was sent before.
    </Text>
  );
}

const isSame = (one: Call, other: Call): boolean =>
  one.model === other.model && JSON.stringify(one.body) === JSON.stringify(other.body);
