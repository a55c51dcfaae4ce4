/** Shows a dialog with one form, rendered only while it is open: errors, fields, and the state of sending. */

import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useFocusReturn } from '../dialogs/escape.ts';
import { Icon } from '../marks/icon.tsx';
import { FormButtons, FormFault } from './form-fault.tsx';
import type { ApiForm } from './use-api-form.ts';

interface FormDialogProps {
  readonly api: Pick<ApiForm<never>, 'fault' | 'busy' | 'onSubmit' | 'fromDraft' | 'discardDraft'>;
  readonly title: string;
  readonly submitLabel: string;
  readonly size?: 'md' | 'lg';
  /** What the user has to decide before the form can be sent again; always in view. */
  readonly notice?: ReactNode;
  readonly children: ReactNode;
  onClose(): void;
}

/** The dialog. A click outside does not close it, so that typed text is not lost. */
export function FormDialog({ api, title, submitLabel, size = 'md', notice, children, onClose }: FormDialogProps) {
  useFocusReturn();
  const isNarrow = useMediaQuery('(max-width: 40em)') ?? false;
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={false}
      fullScreen={isNarrow && size === 'lg'}
      classNames={{ content: 'form-dialog' }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={api.onSubmit} noValidate>
        <Stack>
          {api.fromDraft && (
            <Alert variant="light" color="gray" icon={<Icon name="undo" />}>
              <Group justify="space-between" gap="xs">
                <Text size="sm">What you typed before is here again.</Text>
                <Button size="compact-xs" variant="default" onClick={api.discardDraft}>
                  Begin anew
                </Button>
              </Group>
            </Alert>
          )}
          {children}
          <Stack gap="xs" className="form-actions">
            <FormFault fault={api.fault} />
            {notice}
            <FormButtons onCancel={onClose} submitLabel={submitLabel} busy={api.busy} />
          </Stack>
        </Stack>
      </form>
    </Modal>
  );
}
