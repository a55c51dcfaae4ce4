/** Shows the facts of a model: names, operations, and each target with price and health. */

import { Box, Card, Group, Stack, Switch, Text, Tooltip } from '@mantine/core';
import type { Model, ModelDetail, ModelTarget } from '../../../../src/admin/contract.ts';
import { FactTable } from '../../parts/layout/table.tsx';
import { Heading, Muted, Tag } from '../../parts/layout/text.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { useMay } from '../../parts/session/role.tsx';
import { formatDuration } from '../../parts/words/format.ts';
import { When } from '../../parts/words/numbers.tsx';
import { operationWords } from '../../parts/words/operations.ts';
import { priceInWords, sourceInWords } from '../../parts/words/prices.ts';
import { useVisibility } from './model-data.ts';
import { hiddenInWords, shownOf } from './model-words.ts';

export function ModelFacts({ model }: { readonly model: ModelDetail }) {
  const { setVisible, pending } = useVisibility();
  return (
    <>
      <FactTable
        variant="vertical"
        withRowBorders={false}
        aria-label="Facts"
        nameWidth={130}
        facts={[
          [
            'Visible',
            <Group key="visible" gap="sm" wrap="nowrap">
              <VisibleSwitch model={model} onChange={setVisible} pending={pending === model.id} />
              <Text size="sm">{model.visible ? 'Clients see it in their list of models.' : hiddenInWords(model)}</Text>
            </Group>,
          ],
          ['Serves', model.operations.map((operation) => operationWords[operation]).join(', ')],
          ['Other names', model.aliases.length > 0 ? model.aliases.join(', ') : null],
          ['Vector space', model.space],
          ['Scale of scores', model.scores],
          ['Changed', model.updatedAt && <Changed key="changed" at={model.updatedAt} isInForce={model.inForce} />],
        ]}
      />
      <Stack gap="xs">
        <Heading>Targets</Heading>
        {model.targets.map((target) => (
          <TargetCard key={`${target.upstream} ${target.model}`} target={target} />
        ))}
      </Stack>
    </>
  );
}

const Changed = ({ at, isInForce }: { readonly at: string; readonly isInForce: boolean }) => (
  <>
    <When at={at} />
    {!isInForce && ' – being put in force'}
  </>
);

function TargetCard({ target }: { readonly target: ModelTarget }) {
  const { upstream, model, priority, weight, bridge, price, isListed, nodes } = target;
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Stack gap={0}>
          <Text fw={600} className="breaks">
            {upstream}
          </Text>
          <Muted className="breaks">as {model}</Muted>
        </Stack>
        <Stack gap={0} align="flex-end">
          <StatusBadge state={shownOf(target)} />
          {!isListed && <Text size="sm">Not in the upstream's list</Text>}
        </Stack>
      </Group>
      <Stack gap={4} mt="xs">
        <Text size="sm">
          {priceInWords(price)}
          <Text span size="sm" c="dimmed">
            {' '}
            {sourceInWords(price)}{' '}
            {price?.listed && (
              <Text span inherit className="breaks">
                {price.listed.source}
              </Text>
            )}
          </Text>
        </Text>
        {nodes.map((node) => (
          <Muted key={node.node} className="breaks">
            {`${node.node}: ${nodeInWords(node)}`}
          </Muted>
        ))}
        <Group gap={4}>
          <Tag>{`Priority ${priority}`}</Tag>
          <Tag>{weight === 0 ? 'Never called' : `Weight ${weight}`}</Tag>
          {bridge !== null && <Tag>By way of chat</Tag>}
        </Group>
      </Stack>
    </Card>
  );
}

/** Labels for the health of a target on one node. */
const circuitWords = {
  healthy: 'in use',
  unknown: 'not called yet',
  probing: 'tried again',
  loading: 'loads its model',
  resting: 'in cooldown',
  failing: 'fails, and has no alternative',
} as const satisfies Record<ModelTarget['nodes'][number]['state'], string>;

function nodeInWords({
  state,
  why,
  restsForMs,
  latencyMs,
  inFlight,
  waiting,
  restingCredentials,
}: ModelTarget['nodes'][number]) {
  const words = [
    state === 'resting' && restsForMs > 0 ? `in cooldown for ${formatDuration(restsForMs)}` : circuitWords[state],
  ];
  if (why !== null) words.push(why);
  if (latencyMs > 0) words.push(`first byte after about ${formatDuration(latencyMs)}`);
  if (inFlight > 0) words.push(`${inFlight} in flight`);
  if (waiting > 0) words.push(`${waiting} waiting`);
  if (restingCredentials.length > 0) words.push(`credentials in cooldown: ${restingCredentials.join(', ')}`);
  return words.join(', ');
}

interface VisibleSwitchProps {
  readonly model: Model;
  readonly pending: boolean;
  onChange(id: string, visible: boolean): void;
}

/** Whether clients see a model: a switch, or a text if that is decided elsewhere. */
export function VisibleSwitch({ model, pending, onChange }: VisibleSwitchProps) {
  const may = useMay('editor');
  const why = whyFixed(model, may);
  const meaning = model.visible ? 'Clients see it in their list of models.' : hiddenInWords(model);
  if (why !== undefined) {
    return <StatusBadge state={model.visible ? 'visible' : 'hidden'} why={`${meaning} ${why}`} />;
  }
  return (
    <Tooltip label={meaning} withinPortal multiline maw={300} openDelay={500}>
      <Box display="inline-block">
        <Switch
          checked={model.visible}
          onChange={({ currentTarget }) => onChange(model.id, currentTarget.checked)}
          aria-label={`Show ${model.id} to clients`}
          aria-busy={pending}
        />
      </Box>
    </Tooltip>
  );
}

function whyFixed({ managedBy, place }: Model, may: boolean): string | undefined {
  if (managedBy === 'file') {
    const where = place === null ? 'the configuration file' : `${place.file}, line ${place.line}`;
    return `It is declared in ${where}: write "visible" there.`;
  }
  if (managedBy === 'embedded') return 'It comes with Postern: write a postern.yaml to have it otherwise.';
  return may ? undefined : 'To show and hide models takes the role editor.';
}
