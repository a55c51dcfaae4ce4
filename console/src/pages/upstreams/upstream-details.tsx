/** Shows one upstream in a drawer: health, models that use it, credentials by name, a test, and actions. */

import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Fragment, type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { UpstreamDetail } from '../../../../src/admin/contract.ts';
import type { Versioned } from '../../parts/api/client.ts';
import { useFamilies } from '../../parts/api/families.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { ConnectionTest } from '../../parts/forms/connection-test.tsx';
import { useInterruptedEdit } from '../../parts/forms/use-element-form.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading, toMessage } from '../../parts/layout/state.tsx';
import { DataTable, FactTable } from '../../parts/layout/table.tsx';
import { Heading, Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { ManagedBy, StatusBadge, Success } from '../../parts/marks/status.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { Count, Duration, When } from '../../parts/words/numbers.tsx';
import { EditUpstream, upstreamDraft } from './new-upstream.tsx';
import { refreshUpstreams, removeUpstream, testStored, useUpstream } from './upstream-data.ts';
import { UnderWay } from './upstream-list.tsx';
import { stateWords } from './upstream-words.ts';

const shownTargets = 50;
/** Limit of models that are named for one target, or for the upstream. */
const shownModels = 10;

export function UpstreamDetails({ id, onGone }: { readonly id: string; onGone(): void }) {
  const { data, error, refetch } = useUpstream(id);
  const { data: families } = useFamilies();
  const [editing, setEditing] = useState<Versioned<UpstreamDetail>>();
  useInterruptedEdit(upstreamDraft, data, setEditing);
  if (data === undefined || families === undefined) {
    return error === null ? <Loading rows={8} /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  const family = families.find((one) => one.id === data.data.family.id);
  if (editing !== undefined && family !== undefined) {
    const stop = (): void => setEditing(undefined);
    return <EditUpstream began={editing} family={family} onDone={stop} onCancel={stop} />;
  }
  return <Shown upstream={data.data} onEdit={() => setEditing(data)} onGone={onGone} />;
}

interface ShownProps {
  readonly upstream: UpstreamDetail;
  onEdit(): void;
  onGone(): void;
}

function Shown({ upstream, onEdit, onGone }: ShownProps) {
  const { id, models } = upstream;
  const tested = useMutation({ mutationFn: () => testStored(id) });
  return (
    <Stack gap="lg">
      <Stack gap="sm">
        <Group gap="xs">
          <Needs role="editor">
            <Action
              icon="bolt"
              label="Test the connection"
              loading={tested.isPending}
              onClick={() => tested.mutate()}
            />
          </Needs>
          <Needs role="editor" hide>
            <Button
              component={Link}
              href={`/models?add=${encodeURIComponent(id)}`}
              variant={models.length === 0 ? 'filled' : 'default'}
              leftSection={<Icon name="models" size={16} />}
            >
              Add its models
            </Button>
          </Needs>
          {upstream.managedBy === 'store' && <Changes upstream={upstream} onEdit={onEdit} onGone={onGone} />}
        </Group>
        <ConnectionTest
          isTesting={tested.isPending}
          result={tested.data}
          fault={tested.error === null ? undefined : toMessage(tested.error)}
        />
      </Stack>
      {models.length === 0 && (
        <Alert variant="light" icon={<Icon name="info" />} title="No model uses it yet">
          Clients ask for models. Add those of its models that they may use.
        </Alert>
      )}
      <UpstreamFacts upstream={upstream} />
      {upstream.managedBy === 'file' && upstream.place !== null && (
        <section aria-label="Where it is declared">
          <Heading>Where it is declared</Heading>
          <Text size="sm" className="breaks">
            In {upstream.place.file}, line {upstream.place.line}. Change it there, and it is in force at once.
          </Text>
        </section>
      )}
    </Stack>
  );
}

function Changes({ upstream: { id, version, models }, onEdit, onGone }: ShownProps) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const [, navigate] = useLocation();
  const { mutate, isPending } = useMutation({
    mutationFn: () => removeUpstream(id, version ?? 0),
    onSuccess: () => {
      notifyDone(`${id} is deleted.`);
      onGone();
      void refreshUpstreams(queries);
    },
    onError: notifyFailed,
  });
  const remove = async (): Promise<void> => {
    if (models.length === 0) {
      const body =
        'Its credentials go with it. This cannot be undone: to have it again, they have to be written again.';
      if (await confirm({ title: `Delete ${id}?`, body, confirm: 'Delete', danger: true })) mutate();
      return;
    }
    const body = (
      <Stack gap="xs">
        <Text size="sm">These models would have one target less, or none:</Text>
        <Text size="sm" component="ul" m={0} pl={20} className="breaks">
          {models.slice(0, shownModels).map((model) => (
            <li key={model}>{model}</li>
          ))}
          {models.length > shownModels && <li>and {models.length - shownModels} more</li>}
        </Text>
        <Text size="sm">Give them another target, or delete them first.</Text>
      </Stack>
    );
    if (await confirm({ title: `${id} is still needed`, body, confirm: 'Show these models' })) {
      navigate(`/models?upstream=${encodeURIComponent(id)}`);
    }
  };
  return (
    <>
      <Needs role="admin">
        <Action icon="edit" label="Edit" onClick={onEdit} />
      </Needs>
      <Needs role="admin">
        <Action icon="trash" label="Delete" loading={isPending} onClick={() => void remove()} />
      </Needs>
    </>
  );
}

function UpstreamFacts({ upstream }: { readonly upstream: UpstreamDetail }) {
  const { family, address, managedBy, place, updatedAt, latencyMs, healthCheck } = upstream;
  const words = stateWords(upstream);
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="xs">
          <StatusBadge state={words.state} label={words.label} />
          <Success {...upstream} />
          <ManagedBy by={managedBy} place={place} />
        </Group>
        {words.why !== '' && (
          <Text size="sm" className="breaks">
            {words.why}
          </Text>
        )}
        <UnderWay upstream={upstream} />
      </Stack>
      <FactTable
        aria-label="About it"
        nameWidth="40%"
        facts={[
          ['Family', family.title],
          ['Address', address ?? 'none: it answers inside the gateway'],
          [
            'Time to the first byte',
            latencyMs === 0 ? 'not called in the last 5 minutes' : <Duration key="first" ms={latencyMs} />,
          ],
          ['Calls at a time', callsWords(upstream)],
          ['Health check', healthCheck ? 'from time to time' : 'none; calls show how it is'],
          ['Changed', updatedAt && <When at={updatedAt} />],
        ]}
      />
      <Lanes upstream={upstream} />
      <Endpoints upstream={upstream} />
      <Credentials upstream={upstream} />
      <Targets upstream={upstream} />
      <Nodes upstream={upstream} />
    </Stack>
  );
}

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <Heading mb={6}>{title}</Heading>
    {children}
  </section>
);

const callsWords = ({ limits: { concurrency, learned } }: UpstreamDetail): string =>
  learned === null ? `at most ${concurrency}` : `${learned} by now (learned; at most ${concurrency})`;

const laneNames = { interactive: 'Interactive', bulk: 'Bulk' } as const;

const Lanes = ({ upstream: { lanes } }: { readonly upstream: UpstreamDetail }) => (
  <Section title="Lanes">
    <DataTable
      aria-label="Lanes"
      columns={[
        { title: 'Lane' },
        { title: 'In flight', ta: 'right' },
        { title: 'Waiting', ta: 'right' },
        { title: 'Waiting by key', className: 'breaks' },
      ]}
      rows={(['interactive', 'bulk'] as const).map((lane) => ({
        id: lane,
        cells: [
          laneNames[lane],
          <Count key="calls" value={lanes[lane].inFlight} />,
          <Count key="waiting" value={lanes[lane].waiting} />,
          lanes[lane].keys.map(({ key, waiting }) => `${key} (${waiting})`).join(', ') || '–',
        ],
      }))}
    />
  </Section>
);

function Endpoints({ upstream: { endpoints } }: { readonly upstream: UpstreamDetail }) {
  if (endpoints.length === 0) return null;
  return (
    <Section title="Endpoints">
      <DataTable
        aria-label="Endpoints"
        stacks
        columns={[{ title: 'Address', className: 'breaks' }, { title: 'State' }, { title: 'In flight', ta: 'right' }]}
        rows={endpoints.map(({ endpoint, isUp, why, inFlight }) => ({
          id: endpoint,
          cells: [
            endpoint,
            <StatusBadge key="state" state={isUp ? 'healthy' : 'resting'} why={why} />,
            <Count key="calls" value={inFlight} />,
          ],
        }))}
      />
    </Section>
  );
}

const originWords = {
  store: 'sealed in the store',
  file: 'in the configuration file',
  environment: 'from the environment',
  path: 'in a file of its own',
} as const;

const Credentials = ({ upstream: { credentials } }: { readonly upstream: UpstreamDetail }) => (
  <Section title="Credentials">
    {credentials.length === 0 && <Muted>None is set.</Muted>}
    <Stack gap={4}>
      {credentials.map(({ id, from, hint, weight, resting }) => (
        <Group key={id} gap="xs">
          <Text size="sm" className="breaks">
            {id}: {originWords[from]}
            {hint === null ? '' : ` (${hint})`}
            {credentials.length > 1 ? `, weight ${weight}` : ''}
          </Text>
          {resting && (
            <StatusBadge state="resting" why="It was refused, or had called too often; it is tried again by itself." />
          )}
        </Group>
      ))}
    </Stack>
  </Section>
);

function Targets({ upstream: { id: upstream, targets } }: { readonly upstream: UpstreamDetail }) {
  if (targets.length === 0) return null;
  const all = `/models?${new URLSearchParams({ upstream })}`;
  return (
    <Section title="Models that use it">
      <DataTable
        aria-label="Models that use it"
        stacks
        columns={[
          { title: 'Its own name', className: 'breaks' },
          { title: 'For clients', className: 'breaks' },
          { title: 'Calls', miw: 150 },
          { title: 'First byte', ta: 'right' },
        ]}
        rows={targets
          .slice(0, shownTargets)
          .map(({ model, models, state, why, isListed, latencyMs, calls, failedCalls }) => ({
            id: model,
            cells: [
              model,
              <Group key="models" gap="0 8px">
                {models.slice(0, shownModels).map((id) => (
                  <Anchor key={id} component={Link} href={`/models/${encodeURIComponent(id)}`} size="sm">
                    {id}
                  </Anchor>
                ))}
                {models.length > shownModels && (
                  <Anchor component={Link} href={all} size="sm">
                    and {models.length - shownModels} more
                  </Anchor>
                )}
              </Group>,
              <Fragment key="state">
                {/* How its calls end stands above, for each model; here, whether it is called at all. */}
                {state !== 'healthy' && state !== 'unknown' && <StatusBadge state={state} why={why} />}
                <Success calls={calls} failedCalls={failedCalls} />
                {!isListed && <Text size="sm">Not in the upstream's list</Text>}
              </Fragment>,
              latencyMs === 0 ? '–' : <Duration key="first" ms={latencyMs} />,
            ],
          }))}
      />
      {targets.length > shownTargets && (
        <Muted>
          The first {shownTargets} of {targets.length};{' '}
          <Link href={all} className="fact-link">
            all models that use it
          </Link>
        </Muted>
      )}
    </Section>
  );
}

/** The state on each node; not shown for a single node, as the facts above are then complete. */
function Nodes({ upstream: { nodes } }: { readonly upstream: UpstreamDetail }) {
  if (nodes.length < 2) return null;
  return (
    <Section title="By gateway">
      <DataTable
        aria-label="By gateway"
        stacks
        columns={[
          { title: 'Gateway', className: 'breaks' },
          { title: 'State', miw: 150 },
          { title: 'In flight', ta: 'right' },
          { title: 'First byte', ta: 'right' },
        ]}
        rows={nodes.map(({ node, state, why, inFlight, latencyMs }) => ({
          id: node,
          cells: [
            node,
            <StatusBadge key="state" state={state} why={why} />,
            <Count key="calls" value={inFlight} />,
            latencyMs === 0 ? '–' : <Duration key="first" ms={latencyMs} />,
          ],
        }))}
      />
    </Section>
  );
}
