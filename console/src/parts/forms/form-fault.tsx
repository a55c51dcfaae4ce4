/** Shows an error that concerns a form as a whole; screen readers announce it at once. */

import { Alert, Button, Group, PasswordInput, type PasswordInputProps, Text } from '@mantine/core';
import { Icon } from '../marks/icon.tsx';

export const FormFault = ({ fault }: { readonly fault: string | undefined }) => (
  <div role="alert">
    {fault !== undefined && (
      <Alert variant="light" color="red" icon={<Icon name="warning" />} className="form-fault">
        {fault}
      </Alert>
    )}
  </div>
);

interface FormButtonsProps {
  readonly onCancel: () => void;
  readonly submitLabel: string;
  readonly busy: boolean;
}

export const FormButtons = ({ onCancel, submitLabel, busy }: FormButtonsProps) => (
  <Group justify="flex-end" gap="xs">
    <Button variant="default" onClick={onCancel}>
      Cancel
    </Button>
    <Button type="submit" loading={busy}>
      {submitLabel}
    </Button>
  </Group>
);

/** Shortest password, by the server's rule. */
const leastCharacters = 12;

/** Asks for a new password, and shows while typing whether the server will accept it. */
export function NewPassword({ value, ...props }: PasswordInputProps & { readonly value: string }) {
  const length = [...value].length;
  return (
    <PasswordInput
      label="Password"
      autoComplete="new-password"
      required
      {...props}
      value={value}
      description={<Hint length={length} />}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    />
  );
}

function Hint({ length }: { readonly length: number }) {
  if (length >= leastCharacters) {
    return (
      <Text span inherit className="tone-good hint">
        <Icon name="check" size={14} /> Long enough
      </Text>
    );
  }
  const missing = leastCharacters - length;
  return (
    <Text span inherit className="hint">
      At least {leastCharacters} characters; a few words do well.
      {length > 0 && ` ${missing} more.`}
    </Text>
  );
}
