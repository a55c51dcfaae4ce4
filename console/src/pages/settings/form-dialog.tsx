/** A dialog around one form, drawn only while it is open: what is wrong, the fields, and whether it is sent. */

import { Box, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFocusReturn } from '../../parts/dialogs/escape.ts';
import { FormButtons, FormFault } from '../../parts/forms/form-fault.tsx';
import type { ApiForm } from '../../parts/forms/use-api-form.ts';
import { CopyButton, useCopied } from '../../parts/snippets/copy.tsx';

interface FormDialogProps extends Pick<ApiForm<never>, 'fault' | 'busy' | 'onSubmit'> {
  readonly title: string;
  /** What the button says that sends it. */
  readonly submitLabel: string;
  /** False where much may have been typed. */
  readonly closeOnClickOutside?: boolean;
  readonly children: ReactNode;
  onClose(): void;
}

export function FormDialog(props: FormDialogProps) {
  const { title, submitLabel, closeOnClickOutside = true, children, fault, busy, onSubmit, onClose } = props;
  useFocusReturn();
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={closeOnClickOutside}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFault fault={fault} />
          {children}
          <FormButtons onCancel={onClose} submitLabel={submitLabel} busy={busy} />
        </Stack>
      </form>
    </Modal>
  );
}

interface ShownOnceProps {
  readonly title: string;
  readonly about: ReactNode;
  readonly text: string;
  /** What the copy button says. */
  readonly copyLabel: string;
  readonly children?: ReactNode;
  onClose(): void;
}

/** A secret or a link that is shown only now; it does not go away unasked. */
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
