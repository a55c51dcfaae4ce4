/** How a model's targets are called: shared, tried again, hedged, in which vector space, on which scale of scores, and counted. */

import { Checkbox, NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { PlainField } from '../../parts/forms/plain-field.tsx';
import { shapeField } from '../../parts/words/operations.ts';
import type { ModelValues } from './model-document.ts';

const balances = [
  { value: 'weighted', label: 'By weight' },
  { value: 'least_busy', label: 'To the one with the fewest calls under way' },
  { value: 'fastest', label: 'To the one that answers fastest' },
];
const scales = [
  { value: 'sigmoid', label: 'Between 0 and 1 (sigmoid)' },
  { value: 'raw', label: 'Logits, without bounds (raw)' },
];
const scopes = [
  { value: 'safe', label: 'Embeddings, rerank and moderations' },
  { value: 'always', label: 'Everything, completions and edits too' },
];

export function CallingFields({ form }: { readonly form: UseFormReturnType<ModelValues> }) {
  return (
    <Stack gap="xs">
      <Select label="Balance" placeholder="By weight" data={balances} clearable {...form.getInputProps('balance')} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <Select
          label="Send again what may have arrived"
          placeholder="Embeddings, rerank and moderations"
          data={scopes}
          clearable
          error={form.errors.retry}
          {...form.getInputProps('retry.scope')}
        />
        <NumberInput
          label="Calls for one request, at most"
          placeholder="5"
          min={1}
          max={10}
          allowDecimal={false}
          {...form.getInputProps('retry.attempts')}
        />
        <NumberInput
          label="Retries at the same target"
          description="Before another target is asked. Empty: once, where no other is left, for parts of lists and models with one target."
          min={0}
          max={9}
          allowDecimal={false}
          {...form.getInputProps('retry.sameTarget')}
        />
      </SimpleGrid>
      <TextInput
        label="A second call after"
        description="Where the first is slow: a time such as 200ms, or p95. Empty: never."
        error={form.errors.hedge}
        {...form.getInputProps('hedge.after')}
      />
      <TextInput
        label="Vector space"
        description="Of its embeddings, the same for every target. Empty: the target's model."
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('space')}
      />
      <Select
        label="Rerank scores"
        description="What the scores of every target are brought to."
        placeholder="As they come"
        data={scales}
        clearable
        {...form.getInputProps('scores')}
      />
      <PlainField
        words={{
          ...shapeField,
          description: 'Whose rerank answers and errors they read, where neither the request nor the key says.',
        }}
        input={form.getInputProps('shape')}
      />
      <Checkbox
        label="Takes messages in place of input on the embeddings route, as vLLM does"
        {...form.getInputProps('accepts_messages', { type: 'checkbox' })}
      />
      <Checkbox
        label="Has streams of completions counted whose clients do not ask for a count"
        description="By stream_options.include_usage; the client does not see the event with the count."
        {...form.getInputProps('usage', { type: 'checkbox' })}
      />
    </Stack>
  );
}
