/** What the live view says of itself: whether it follows, stands still or lost its connection; and the button to hold it. */

import { Button, Text } from '@mantine/core';
import { Icon } from '../../parts/marks/icon.tsx';
import { pauseLive, useLivePart } from './use-live.ts';

export function LiveBar() {
  const isPaused = useLivePart((state) => state.isPaused);
  const words = useLivePart(({ status, isPaused: paused, isBehind }) => {
    if (status === 'lost') return 'Connection lost; trying again';
    if (paused) return 'Paused';
    if (isBehind) return 'The gateway is slow to answer';
    return status === 'live' ? 'Following' : 'Connecting';
  });
  return (
    <>
      <Text size="sm" c="dimmed" role="status" className={`live-words live-${words === 'Following' ? 'on' : 'off'}`}>
        <span className="live-dot" aria-hidden="true" />
        {words}
      </Text>
      <Button
        size="xs"
        variant="default"
        w={104}
        leftSection={<Icon name={isPaused ? 'play' : 'pause'} size={14} />}
        onClick={() => pauseLive(!isPaused)}
      >
        {isPaused ? 'Go on' : 'Pause'}
      </Button>
    </>
  );
}
