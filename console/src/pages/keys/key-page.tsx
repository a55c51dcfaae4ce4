/** Shows one key in a drawer: permissions, usage and actions. */

import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { KeyDetail, KeyDocument, KeyWithSecret } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { SubjectPage } from '../../parts/explorer/subject-page.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { FactTable } from '../../parts/layout/table.tsx';
import { Heading } from '../../parts/layout/text.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { CopyButton } from '../../parts/snippets/copy.tsx';
import { Nothing, When } from '../../parts/words/numbers.tsx';
import { useKey, useRefresh } from './data.ts';
import { KeyBadges, limitsInWords, modelsInWords, nameOf } from './key-badges.tsx';
import { EditKey, RotateKey } from './key-form.tsx';
import { KeySnippets, Warnings } from './secret-dialog.tsx';
import { BudgetFacts, UsageFacts } from './spend-facts.tsx';

interface KeyPageProps {
  readonly id: string;
  readonly onRotated: (made: KeyWithSecret) => void;
}

export function KeyPage({ id, onRotated }: KeyPageProps) {
  const { data, error } = useKey(id);
  const restore = (_: unknown, entry: string): Promise<unknown> =>
    ask('POST /api/keys/:id/restore', { params: { id }, body: { entry } });
  return (
    <SubjectPage
      kind="key"
      id={id}
      {...(data !== undefined && { name: nameOf(data.data) })}
      loaded={{ data, error }}
      list={{ href: '/keys', title: 'Keys' }}
      onRestore={data?.data.managedBy === 'store' ? restore : undefined}
    >
      <KeyFacts id={id} onRotated={onRotated} />
    </SubjectPage>
  );
}

function KeyFacts({ id, onRotated }: { readonly id: string; readonly onRotated: (made: KeyWithSecret) => void }) {
  const { data: seen, error, refetch } = useKey(id);
  const [doing, setDoing] = useState<'edit' | 'rotate'>();
  if (error !== null && seen === undefined) return <Failed error={error} onRetry={() => void refetch()} />;
  if (seen === undefined) return <Loading rows={8} />;
  const key = seen.data;
  const spender = { kind: 'key', id } as const;
  const done = (): void => setDoing(undefined);
  return (
    <Stack gap="lg">
      <KeyBadges item={key} />
      {key.managedBy === 'store' && (
        <Actions item={key} onEdit={() => setDoing('edit')} onRotate={() => setDoing('rotate')} />
      )}
      <Warnings warnings={key.warnings} />
      <Terms item={key} />
      <BudgetFacts spender={spender} budgets={key.budgets} />
      <UsageFacts spender={spender} />
      {key.state === 'active' && (
        <Stack gap="xs" component="section">
          <Heading>How to use it</Heading>
          <KeySnippets document={key.document} secret={undefined} />
        </Stack>
      )}
      {doing === 'edit' && <EditKey seen={seen} onClose={done} />}
      {doing === 'rotate' && <RotateKey item={key} onClose={done} onRotated={onRotated} />}
    </Stack>
  );
}

interface ActionsProps {
  readonly item: KeyDetail;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
}

const lastDayMs = 86_400_000;

function Actions({ item, onEdit, onRotate }: ActionsProps) {
  const confirm = useConfirm();
  const refresh = useRefresh();
  const name = nameOf(item);

  async function revoke(): Promise<void> {
    const isInUse = item.lastUsedAt !== null && Date.now() - Date.parse(item.lastUsedAt) < lastDayMs;
    const yes = await confirm({
      title: `Revoke ${name}?`,
      body: <RevokeWords isInUse={isInUse} />,
      confirm: 'Revoke',
      danger: true,
      ...(isInUse && { typeToConfirm: name }),
    });
    if (!yes) return;
    try {
      await ask('POST /api/keys/:id/revoke', { params: { id: item.id } });
      notifyDone(`${name} is revoked; every gateway refuses it within two seconds.`);
    } catch (error) {
      notifyFailed(error);
    }
    await refresh();
  }

  if (item.state === 'revoked') return null;
  return (
    <Needs role="admin">
      <Group gap="xs">
        <Action icon="edit" label="Change" size="xs" onClick={onEdit} />
        <Action icon="refresh" label="Rotate secret" size="xs" onClick={onRotate} />
        <Action icon="ban" label="Revoke" size="xs" onClick={() => void revoke()} />
      </Group>
    </Needs>
  );
}

const RevokeWords = ({ isInUse }: { readonly isInUse: boolean }) => (
  <Stack gap="xs">
    {isInUse && <Text size="sm">It was used within the last day: its clients are cut off.</Text>}
    <Text size="sm">
      Within two seconds every gateway refuses it, a former secret too. Its usage stays in the ledger. This cannot be
      undone; you can make another key.
    </Text>
  </Stack>
);

function Terms({ item }: { readonly item: KeyDetail }) {
  const { document } = item;
  const limits = limitsInWords(document.limits);
  return (
    <FactTable
      variant="vertical"
      withTableBorder
      nameWidth={130}
      facts={[
        [
          'ID',
          <Group key="id" gap={4} wrap="nowrap">
            <span className="breaks">{item.id}</span>
            <CopyButton text={item.id} label="Copy the ID" />
          </Group>,
        ],
        ['Secret begins', item.hint],
        [
          'Project',
          document.project && (
            <Anchor component={Link} inherit href={`/keys/projects/${encodeURIComponent(document.project)}`}>
              {document.project}
            </Anchor>
          ),
        ],
        ['Models', document.models.length > 2 ? document.models.join(', ') : modelsInWords(document.models)],
        ['Operations', document.operations?.join(', ') ?? 'All'],
        ['From', document.addresses?.join(', ') ?? 'Any address'],
        ['Limits', limits.length === 0 ? <Nothing key="limits">no limits</Nothing> : limits.join(', ')],
        ['Clients written for', document.shape],
        ['Captures bodies', captureWords(document)],
        ...Object.entries(document.metadata),
        ['Created', item.createdAt && <When key="made" at={item.createdAt} />],
        ['Ends', document.expires && <When key="ends" at={document.expires} />],
        ['Last used', <When key="used" at={item.lastUsedAt} />],
      ]}
    />
  );
}

const captureWords = ({ capture }: KeyDocument): string =>
  capture === undefined ? 'No' : `Requests and responses, for ${capture}`;
