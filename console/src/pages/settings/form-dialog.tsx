/** A dialog around one form, drawn only while it is open: what is wrong, the fields, and whether it is sent. */

import { Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormButtons } from '../../parts/forms/form-buttons.tsx';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import type { ApiForm } from '../../parts/forms/use-api-form.ts';
import { useFocusReturn } from '../../parts/forms/use-focus-return.ts';

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
