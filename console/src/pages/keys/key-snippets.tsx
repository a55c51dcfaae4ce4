/** Calls with a key, ready to be pasted, for a model that it may use. */

import { Alert, Anchor, Select, Stack, Tabs, Text } from '@mantine/core';
import { type MouseEvent, useState } from 'react';
import { Link } from 'wouter';
import {
  type KeyDocument,
  type Operation,
  operationsAsOffered,
  type PlaygroundModel,
} from '../../../../src/admin/contract.ts';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Snippet } from '../../parts/snippets/copy.tsx';
import { toSnippets } from '../../parts/snippets/snippets.ts';
import { useModels } from './data.ts';

interface KeySnippetsProps {
  readonly document: KeyDocument;
  /** Undefined where it is not known: then a variable of the shell stands in its place. */
  readonly secret: string | undefined;
  readonly onCopied?: () => void;
}

export function KeySnippets({ document, secret, onCopied }: KeySnippetsProps) {
  const { models, clientUrl } = useModels();
  const usable = toUsable(document, models);
  const [chosen, setChosen] = useState<string | null>(null);
  const [tab, setTab] = useState<string | null>('curl');
  const current = usable.find((one) => nameOf(one) === chosen) ?? usable[0];
  // The secret is in the call as well.
  const noteCopy = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest('button') !== null) onCopied?.();
  };
  if (clientUrl === undefined) return null;
  if (current === undefined) return <NothingUsable />;
  const snippets = toSnippets({ baseUrl: clientUrl, secret, ...current });
  const shown = snippets.some(({ id }) => id === tab) ? tab : 'curl';
  return (
    <Stack gap="sm">
      <Select
        label="Try it with"
        data={usable.map((one) => ({ value: nameOf(one), label: `${one.model}: ${one.operation}` }))}
        value={nameOf(current)}
        onChange={setChosen}
        allowDeselect={false}
        searchable={usable.length > 8}
      />
      <Tabs value={shown} onChange={setTab} keepMounted={false}>
        <Tabs.List>
          {snippets.map(({ id, title }) => (
            <Tabs.Tab key={id} value={id}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, code, language, note }) => (
          <Tabs.Panel key={id} value={id} pt="sm" onClickCapture={noteCopy} onCopyCapture={onCopied}>
            <Stack gap="xs">
              <Snippet code={code} language={language} label={`Copy the call for ${language}`} />
              {note !== undefined && <Muted>{note}</Muted>}
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
}

const nameOf = ({ model, operation }: Usable): string => `${operation} ${model}`;

function NothingUsable() {
  return (
    <Alert variant="light" color="gray" icon={<Icon name="models" />} title="No model for it yet">
      <Text size="sm">
        There is no model that clients can see and this key may use.{' '}
        <Anchor component={Link} inherit href="/models">
          Look at the models
        </Anchor>
        , or let the key use others.
      </Text>
    </Alert>
  );
}

interface Usable {
  readonly model: string;
  readonly operation: Operation;
}

/** Which models a key may use, and for what: by the rules of the gateway. */
function toUsable(
  { models: patterns, operations }: Pick<KeyDocument, 'models' | 'operations'>,
  models: readonly PlaygroundModel[],
): Usable[] {
  const reachable = models.filter(
    ({ id, visible }) => visible && !id.includes('*') && patterns.some((one) => fits(one, id)),
  );
  return operationsAsOffered
    .filter((operation) => operations === undefined || operations.includes(operation))
    .flatMap((operation) =>
      reachable
        .filter((model) => model.operations.includes(operation))
        .map((model) => ({ model: model.id, operation })),
    );
}

/** A pattern has one `*` at most. */
function fits(pattern: string, id: string): boolean {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return pattern === id;
  return id.length >= before.length + after.length && id.startsWith(before) && id.endsWith(after);
}
