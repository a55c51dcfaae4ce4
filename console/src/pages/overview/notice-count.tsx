/** One line under the page's name: whether there is something to look at, and the way to it. */

import { Anchor } from '@mantine/core';
import { useNotices } from './queries.ts';

export function NoticeCount() {
  const { data } = useNotices();
  // It keeps its place while nothing is known.
  if (data === undefined) return ' ';
  const urgent = data.filter(({ severity }) => severity !== 'hint').length;
  if (urgent === 0) return 'What happens at the gateway.';
  return (
    <Anchor href="#look" inherit underline="always">
      {urgent === 1 ? 'One thing to look at' : `${urgent} things to look at`}
    </Anchor>
  );
}
