/** A field that needs no more than its words: a text, or one of some choices. */

import { Select, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import type { FieldWords } from '../words/operations.ts';

interface PlainFieldProps {
  readonly words: FieldWords;
  readonly input: GetInputPropsReturnType;
}

export function PlainField({ words: { choices, ...words }, input }: PlainFieldProps) {
  if (choices === undefined) return <TextInput {...words} {...input} value={input.value ?? ''} />;
  return <Select {...words} data={choices} clearable {...input} />;
}
