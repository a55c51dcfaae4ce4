/** Shows a new secret once, with ready-made example calls; it closes only on request. */

import { Alert, Anchor, Box, Button, Code, Group, Modal, Select, Stack, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type MouseEvent, useState } from 'react';
import { Link } from 'wouter';
import {
  type KeyDocument,
  type KeyWithSecret,
  type Operation,
  operationsAsOffered,
  type PlaygroundModel,
} from '../../../../src/admin/contract.ts';
import { useFocusReturn } from '../../parts/dialogs/escape.ts';
import { ofSecrets, useUnsaved } from '../../parts/forms/draft.ts';
import { Notice } from '../../parts/layout/state.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { mostOptions } from '../../parts/models/pick-models.tsx';
import { CopyButton, Snippet, useCopied } from '../../parts/snippets/copy.tsx';
import { toSnippets } from '../../parts/snippets/snippets.ts';
import { useModels } from './data.ts';
import { nameOf } from './key-badges.tsx';

interface SecretDialogProps {
  readonly made: KeyWithSecret;
  readonly isRotated: boolean;
  readonly onClose: () => void;
}

export function SecretDialog({ made, isRotated, onClose }: SecretDialogProps) {
  useFocusReturn();
  const isNarrow = useMediaQuery('(max-width: 40em)') ?? false;
  const { copied, onCopied, close } = useCopied({ ...ofSecrets, onClose });
  useUnsaved(!copied, ofSecrets);

  return (
    <Modal
      opened
      onClose={() => void close()}
      title={isRotated ? `The new secret of ${nameOf(made)}` : `${nameOf(made)} is made`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      fullScreen={isNarrow}
    >
      <Stack>
        <Stack gap={6}>
          <Text size="sm">
            This is the secret. It is shown only now: put it where your other secrets are, such as a vault.
          </Text>
          <Code block className="secret" onCopy={onCopied}>
            {made.secret}
          </Code>
          <Box onClickCapture={onCopied}>
            <CopyButton text={made.secret} label="Copy the secret" wide />
          </Box>
        </Stack>
        {isRotated && made.oldSecretUntil !== null && (
          <Text size="sm">
            The former secret goes on working until {new Date(made.oldSecretUntil).toLocaleString()}.
          </Text>
        )}
        <Warnings warnings={made.warnings} />
        <KeySnippets document={made.document} secret={made.secret} onCopied={onCopied} />
        <Group justify="flex-end">
          <Button onClick={() => void close()}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <Notice title="Worth a look">
      <Stack gap={4}>
        {warnings.map((warning) => (
          <Text key={warning} size="sm" className="breaks">
            {warning}
          </Text>
        ))}
      </Stack>
    </Notice>
  );
}

interface KeySnippetsProps {
  readonly document: KeyDocument;
  /** The key's secret; undefined where it is not known, so that the calls contain a shell variable instead. */
  readonly secret: string | undefined;
  readonly onCopied?: () => void;
}

/** Calls with a key, ready to be pasted, for a model that it may use. */
export function KeySnippets({ document, secret, onCopied }: KeySnippetsProps) {
  const { models, clientUrl } = useModels();
  const usable = toUsable(document, models);
  const [chosen, setChosen] = useState<string | null>(null);
  const [tab, setTab] = useState<string | null>('curl');
  const current = usable.find((one) => usableName(one) === chosen) ?? usable[0];
  // A call contains the secret, so that copying a call counts as copying the secret.
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
        data={usable.map((one) => ({ value: usableName(one), label: `${one.model}: ${one.operation}` }))}
        value={usableName(current)}
        onChange={setChosen}
        allowDeselect={false}
        searchable={usable.length > 8}
        limit={mostOptions}
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

const usableName = ({ model, operation }: Usable): string => `${operation} ${model}`;

const NothingUsable = () => (
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

interface Usable {
  readonly model: string;
  readonly operation: Operation;
}

/** The models that a key may use, and for which operations, by the rules of the gateway. */
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

/** Whether an ID matches a pattern, which has at most one `*`. */
function fits(pattern: string, id: string): boolean {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return pattern === id;
  return id.length >= before.length + after.length && id.startsWith(before) && id.endsWith(after);
}
