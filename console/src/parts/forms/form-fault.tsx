/** What is wrong with a form beside its fields: said at once to those who listen rather than look. */

import { Alert, Button, Group } from '@mantine/core';
import { Icon } from '../marks/icon.tsx';

export function FormFault({ fault }: { readonly fault: string | undefined }) {
  return (
    <div role="alert">
      {fault !== undefined && (
        <Alert variant="light" color="red" icon={<Icon name="warning" />} className="form-fault">
          {fault}
        </Alert>
      )}
    </div>
  );
}

interface FormButtonsProps {
  readonly onCancel: () => void;
  readonly submitLabel: string;
  readonly busy: boolean;
}

/** The end of a form: back without a change, or on. */
export function FormButtons({ onCancel, submitLabel, busy }: FormButtonsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={busy}>
        {submitLabel}
      </Button>
    </Group>
  );
}
