/** A secret or a link that is shown only now; it does not go away unasked. */

import { Box, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFocusReturn } from '../../parts/forms/use-focus-return.ts';
import { CopyButton } from '../../parts/snippets/copy.tsx';
import { useCopied } from '../../parts/snippets/use-copied.ts';

interface ShownOnceProps {
  readonly title: string;
  readonly about: ReactNode;
  readonly text: string;
  /** What the copy button says. */
  readonly copyLabel: string;
  readonly children?: ReactNode;
  onClose(): void;
}

export function ShownOnce({ title, about, text, copyLabel, children, onClose }: ShownOnceProps) {
  useFocusReturn();
  const { onCopied, close } = useCopied({
    title: 'Did you copy it?',
    body: 'It is shown only now, and Postern keeps no copy of it.',
    onClose,
  });

  return (
    <Modal
      opened
      onClose={() => void close()}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm" component="div">
          {about}
        </Text>
        <Code block className="breaks" onCopy={onCopied}>
          {text}
        </Code>
        <Box onClickCapture={onCopied}>
          <CopyButton text={text} label={copyLabel} wide />
        </Box>
        {children}
        <Group justify="flex-end">
          <Button onClick={() => void close()}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
