/** Who serves a model: rows that can be added and taken out, the first ones tried first. */

import {
  Autocomplete,
  Button,
  Card,
  Collapse,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { Action, IconButton } from '../../parts/layout/button.tsx';
import { Heading, Muted } from '../../parts/layout/text.tsx';
import { useUpstreams } from './model-data.ts';
import { emptyTarget, type ModelValues, type TargetValues } from './model-document.ts';
import { PriceFields } from './price-fields.tsx';

type Form = UseFormReturnType<ModelValues>;

export function TargetsFields({ form }: { readonly form: Form }) {
  const { targets } = form.values;
  return (
    <Stack gap="xs" component="section" aria-label="Targets">
      <Heading>Targets</Heading>
      <Muted>
        Those with the lowest priority are tried first and share the calls by weight; the others are there for when they
        fail.
      </Muted>
      {form.errors.targets !== undefined && (
        <Text size="sm" c="red" role="alert">
          {form.errors.targets}
        </Text>
      )}
      {targets.map((target, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: faults and values go by the place in the list
        <TargetFields key={index} form={form} index={index} target={target} isOnly={targets.length === 1} />
      ))}
      <Group>
        <Action
          icon="plus"
          label="Add a target"
          size="xs"
          onClick={() => form.insertListItem('targets', emptyTarget())}
        />
      </Group>
    </Stack>
  );
}

interface TargetFieldsProps {
  readonly form: Form;
  readonly index: number;
  readonly target: TargetValues;
  readonly isOnly: boolean;
}

const bridges = [
  { value: 'chat', label: 'Completions and edits by way of chat' },
  { value: 'guard', label: 'Moderations by way of a guard model' },
];
const scales = [
  { value: 'sigmoid', label: 'Between 0 and 1 (sigmoid)' },
  { value: 'raw', label: 'Logits, without bounds (raw)' },
];
const unsupported = [
  { value: 'refuse', label: 'Refuse the request' },
  { value: 'drop', label: 'Leave it out' },
];

function TargetFields({ form, index, target, isOnly }: TargetFieldsProps) {
  const [more, { toggle }] = useDisclosure(
    target.price.kind !== 'standard' ||
      target.bridge !== null ||
      target.scores !== null ||
      [target.max_items, target.max_tokens, target.max_bytes].some((value) => value !== ''),
  );
  const { data: upstreams = [] } = useUpstreams();
  const at = `targets.${index}`;
  const names = upstreams.map(({ id }) => id);
  return (
    <Card withBorder padding="sm" role="group" aria-label={`Target ${index + 1}`}>
      <Stack gap="xs">
        <Group align="flex-start" wrap="nowrap" gap="xs">
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" flex={1}>
            <Autocomplete label="Upstream" data={names} required {...form.getInputProps(`${at}.upstream`)} />
            <TextInput
              label="Its name there"
              placeholder={form.values.id || 'the same name'}
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps(`${at}.model`)}
            />
          </SimpleGrid>
          <IconButton
            icon="trash"
            label={`Take target ${index + 1} out`}
            mt={26}
            size="lg"
            disabled={isOnly}
            onClick={() => form.removeListItem('targets', index)}
          />
        </Group>
        <Group gap="xs" align="flex-end">
          <NumberInput
            label="Priority"
            min={0}
            allowDecimal={false}
            w={100}
            {...form.getInputProps(`${at}.priority`)}
          />
          <NumberInput label="Weight" min={0} allowDecimal={false} w={100} {...form.getInputProps(`${at}.weight`)} />
          <Button variant="subtle" onClick={toggle} aria-expanded={more}>
            {more ? 'Less' : 'More'}
          </Button>
        </Group>
        <Collapse expanded={more}>
          <Stack gap="xs">
            <PriceFields form={form} path={`${at}.price`} standard="As the model's price says" />
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
              <Select
                label="Bridge"
                placeholder="None"
                data={bridges}
                clearable
                {...form.getInputProps(`${at}.bridge`)}
              />
              <Select
                label="Parameters it has no name for"
                placeholder="As they can be done without"
                data={unsupported}
                clearable
                {...form.getInputProps(`${at}.unsupported`)}
              />
              <Select
                label="Its rerank scores are"
                placeholder="What its family says"
                data={scales}
                clearable
                {...form.getInputProps(`${at}.scores`)}
              />
              <NumberInput
                label="Items in a call, at most"
                placeholder="As its family takes"
                min={1}
                allowDecimal={false}
                {...form.getInputProps(`${at}.max_items`)}
              />
              <NumberInput
                label="Tokens in a call, at most"
                placeholder="As its family takes"
                min={1}
                allowDecimal={false}
                {...form.getInputProps(`${at}.max_tokens`)}
              />
              <TextInput
                label="Size of a call, at most"
                placeholder="Such as 1MiB"
                {...form.getInputProps(`${at}.max_bytes`)}
              />
            </SimpleGrid>
          </Stack>
        </Collapse>
      </Stack>
    </Card>
  );
}
