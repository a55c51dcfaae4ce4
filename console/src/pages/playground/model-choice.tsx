/** Chooses one or two models for a tab, with remarks on each. */

import { Anchor, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { Link } from 'wouter';
import type { Operation, PlaygroundModel } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { Remark } from '../../parts/layout/text.tsx';
import { mostOptions } from '../../parts/models/pick-models.tsx';
import type { Values } from '../../parts/snippets/share.ts';
import { refusesHidden } from '../../parts/words/operations.ts';
import { textOf } from './fields.tsx';

interface ModelChoiceProps {
  /** The operation that the model must serve; if several are given, one of them is enough. */
  readonly operation: Operation | readonly Operation[];
  readonly value: string;
  onChange(model: string): void;
  readonly label?: string;
  /** Whether no model may be chosen, as for the second one of a comparison. */
  readonly optional?: boolean;
  readonly wanted?: string | undefined;
}

/** Chooses a model among those that serve a route, and describes it. */
export function ModelChoice({
  operation,
  value,
  onChange,
  label = 'Model',
  optional = false,
  wanted,
}: ModelChoiceProps) {
  const { data, isPending, error } = usePlaygroundModels(operation);
  const items = data?.items ?? [];
  const chosen = findModel(items, value);

  useEffect(() => {
    if (wanted !== undefined) onChange(wanted);
  }, [wanted, onChange]);
  const first = items.find(({ id, visible }) => visible && !isPattern(id)) ?? items[0];
  const preset = optional || value !== '' || wanted !== undefined ? undefined : first?.id;
  useEffect(() => {
    if (preset !== undefined) onChange(preset);
  }, [preset, onChange]);

  // There is no other model to compare with.
  if (optional && value === '' && items.length < 2) return null;
  return (
    <Stack gap={4}>
      <Select
        label={label}
        placeholder={placeholderFor(isPending, optional, items.length)}
        data={toChoices(items, value)}
        value={chosen?.id ?? (value === '' ? null : value)}
        onChange={(model) => onChange(model ?? '')}
        searchable
        limit={mostOptions}
        // What is typed next replaces the name, as after the Tab key.
        onClick={(event) => event.currentTarget.select()}
        clearable={optional}
        allowDeselect={optional}
        clearButtonProps={{ 'aria-label': 'Compare with no other model' }}
        nothingFoundMessage="No model of this name serves this route."
        error={error === null ? undefined : 'The models could not be loaded.'}
      />
      {chosen !== undefined && isPattern(chosen.id) && (
        <TextInput
          label={`Name that fits ${chosen.id}`}
          value={isPattern(value) ? '' : value}
          onChange={(event) => onChange(event.currentTarget.value === '' ? chosen.id : event.currentTarget.value)}
        />
      )}
      <ModelFacts model={chosen} operation={operation} />
    </Stack>
  );
}

function placeholderFor(isPending: boolean, optional: boolean, count: number): string {
  if (isPending) return 'Loading the models';
  if (count === 0) return 'No model serves this route yet';
  return optional ? 'None' : 'Choose a model';
}

/** The models to choose from. An unknown name stays in the list: it came from the URL, or the model was deleted. */
function toChoices(items: readonly PlaygroundModel[], value: string) {
  const known = items.map(({ id, visible }) => ({ value: id, label: visible ? id : `${id} (hidden)` }));
  const isKnown = value === '' || findModel(items, value) !== undefined;
  return isKnown ? known : [...known, { value, label: value }];
}

function ModelFacts({
  model,
  operation,
}: {
  readonly model: PlaygroundModel | undefined;
  readonly operation: Operation | readonly Operation[];
}) {
  if (model === undefined) return null;
  const space = operation === 'embeddings' && model.space !== null ? ` Vector space: ${model.space}.` : '';
  return (
    <>
      <Remark>
        {aboutModel(model)}
        {space}
      </Remark>
      {!model.visible && [operation].flat().every(refusesHidden) && (
        <Text size="xs" className="tone-wait">
          Hidden: this route answers as if there were no such model.{' '}
          <Anchor component={Link} href="/models" inherit underline="always">
            Show it to clients
          </Anchor>
        </Text>
      )}
    </>
  );
}

interface ModelPairProps {
  readonly operation: Operation;
  readonly form: Values;
  put(change: Values): void;
  readonly wanted: string | undefined;
  readonly isPair: boolean;
}

/** The model to call, and optionally a second one for the same call. */
export function ModelPair({ operation, form, put, wanted, isPair }: ModelPairProps) {
  const setModel = useCallback((model: string) => put({ model }), [put]);
  const setOther = useCallback((other: string) => put({ other }), [put]);
  const [model, other] = [textOf(form, 'model'), textOf(form, 'other')];
  return (
    <>
      <ModelChoice key={operation} operation={operation} value={model} onChange={setModel} wanted={wanted} />
      {isPair && <ModelChoice operation={operation} label="Compare with" value={other} onChange={setOther} optional />}
    </>
  );
}

/** Models that serve the operation, or one of several operations. */
export function usePlaygroundModels(operation: Operation | readonly Operation[]) {
  const wanted = [operation].flat();
  return useQuery({
    queryKey: ['playground', 'models', ...wanted],
    queryFn: async ({ signal }) => {
      const only = wanted.length === 1 ? wanted[0] : undefined;
      const found = await ask('GET /api/playground/models', { query: { operation: only }, signal });
      return {
        ...found,
        items: found.items.filter(({ operations }) => wanted.some((one) => operations.includes(one))),
      };
    },
  });
}

/** Finds a model by its name, by an alias, or by a pattern that matches. */
export function findModel(items: readonly PlaygroundModel[], name: string): PlaygroundModel | undefined {
  const exact = items.find(({ id, aliases }) => id === name || aliases.includes(name));
  if (exact !== undefined || name === '') return exact;
  return items.find(({ id }) => isPattern(id) && fits(id, name));
}

function fits(pattern: string, name: string): boolean {
  const [start = '', end = ''] = pattern.split('*');
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** Describes the gateway's built-in models. */
const builtInFacts: Readonly<Record<string, string>> = {
  'local/hash-embed': 'Built in: counts letters and words. It sees spelling, not meaning, and needs no network.',
  'local/bm25': 'Built in: classic keyword ranking (BM25). It matches words, not meaning, and needs no network.',
  'local/wordlist': 'Built in: a list of English words and phrases that anyone can read. No network, no judgement.',
  'local/echo': 'Built in: says the prompt again, and follows a few plain edits. It does not think.',
};

function aboutModel({ id, builtIn, upstreams }: PlaygroundModel): string {
  if (builtIn) return builtInFacts[id] ?? 'Built into the gateway; needs no network.';
  return `Served by ${upstreams.join(', ')}.`;
}

const isPattern = (id: string): boolean => id.includes('*');
