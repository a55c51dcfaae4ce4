/** Asks for a new password, and says while it is typed whether the server will take it. */

import { PasswordInput, type PasswordInputProps, Text } from '@mantine/core';
import { Icon } from '../marks/icon.tsx';

/** The server's own rule. */
const leastCharacters = 12;

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
