/** Takes fields that the page has none for: they are sent as they are. */

import { Textarea } from '@mantine/core';
import { parseFurther } from './further.ts';

interface FurtherFieldsProps {
  readonly example: string;
  readonly value: string;
  onChange(value: string): void;
}

export function FurtherFields({ example, value, onChange }: FurtherFieldsProps) {
  const parsed = parseFurther(value);
  return (
    <Textarea
      label="Further fields"
      description="JSON; sent as they are, and they win"
      placeholder={example}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={typeof parsed === 'string' ? parsed : undefined}
      autosize
      minRows={1}
      maxRows={8}
      spellCheck={false}
    />
  );
}
