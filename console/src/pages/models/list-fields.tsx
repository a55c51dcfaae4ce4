/** What a model does with lists: what it remembers, joins, compares and watches. */

import { Checkbox, NumberInput, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ModelValues } from './model-document.ts';

const scopes = [
  { value: 'project', label: 'The keys of a project' },
  { value: 'shared', label: 'All keys' },
];
const countings = [
  { value: 'asked', label: 'What upstreams were asked for' },
  { value: 'all', label: 'All that was answered' },
];

export function ListFields({ form }: { readonly form: UseFormReturnType<ModelValues> }) {
  const { cache, coalesce } = form.values;
  return (
    <Stack gap="xs">
      <Checkbox
        label="Remembers what was said of each item"
        description="Of embeddings, rerank and moderations: what is known is asked of nobody, and costs nothing."
        error={form.errors.cache}
        {...form.getInputProps('cache.on', { type: 'checkbox' })}
      />
      {cache.on && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
          <TextInput label="For how long" placeholder="24h" {...form.getInputProps('cache.ttl')} />
          <TextInput label="Held by a process, at most" placeholder="64MiB" {...form.getInputProps('cache.max')} />
          <Select
            label="Shared by"
            placeholder="The keys of a project"
            data={scopes}
            clearable
            {...form.getInputProps('cache.scope')}
          />
          <Select
            label="Limits count"
            placeholder="What upstreams were asked for"
            data={countings}
            clearable
            {...form.getInputProps('cache.limits')}
          />
        </SimpleGrid>
      )}
      <Checkbox
        label="Asks for equal items once"
        description="Always so where a list is taken apart, or items are remembered."
        {...form.getInputProps('dedupe', { type: 'checkbox' })}
      />
      <Checkbox
        label="Joins small requests into one call"
        description="Those that come at the same time wait for each other a little."
        error={form.errors.coalesce}
        {...form.getInputProps('coalesce.on', { type: 'checkbox' })}
      />
      {coalesce.on && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
          <TextInput label="They wait" placeholder="5ms" {...form.getInputProps('coalesce.window')} />
          <NumberInput
            label="Items in a call, at most"
            min={1}
            allowDecimal={false}
            {...form.getInputProps('coalesce.max_items')}
          />
        </SimpleGrid>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
        <TextInput
          label="Ask another model as well"
          description="Behind the answer, to see how much both agree. Empty: none."
          autoComplete="off"
          spellCheck={false}
          error={form.errors.shadow}
          {...form.getInputProps('shadow.model')}
        />
        <NumberInput
          label="For this share of requests"
          description="From 0 to 1."
          min={0}
          max={1}
          step={0.01}
          {...form.getInputProps('shadow.share')}
        />
        <TagsInput
          label="Texts to watch it by"
          description="Embedded from time to time: a changed model is told of. Press Enter after each."
          splitChars={[]}
          error={form.errors.canary}
          {...form.getInputProps('canary.texts')}
        />
        <TextInput
          label="How often"
          description="A time such as 1h."
          placeholder="1h"
          {...form.getInputProps('canary.every')}
        />
      </SimpleGrid>
    </Stack>
  );
}
