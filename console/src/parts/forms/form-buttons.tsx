/** The end of a form: back without a change, or on. */

import { Button, Group } from '@mantine/core';

interface FormButtonsProps {
  readonly onCancel: () => void;
  readonly submitLabel: string;
  readonly busy: boolean;
}

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
