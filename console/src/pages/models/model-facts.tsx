/** What is known of a model: its names, what it serves, and each target with its price and its health. */

import { Box, Card, Group, Stack, Switch, Table, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Model, ModelDetail, ModelTarget } from '../../../../src/admin/contract.ts';
import { Heading, Muted, Tag } from '../../parts/layout/text.tsx';
import { StatusBadge, Success } from '../../parts/marks/status.tsx';
import { useMay } from '../../parts/session/role.tsx';
import { formatDuration } from '../../parts/words/format.ts';
import { When } from '../../parts/words/numbers.tsx';
import { operationWords } from '../../parts/words/operations.ts';
import { useVisibility } from './model-data.ts';
import { callsOf, hiddenInWords, priceInWords, sourceInWords } from './model-words.ts';

export function ModelFacts({ model }: { readonly model: ModelDetail }) {
  const { setVisible, pending } = useVisibility();
  return (
    <>
      <Table layout="fixed" variant="vertical" withRowBorders={false} aria-label="Facts">
        <Table.Tbody>
          <Fact name="Visible">
            <Group gap="sm" wrap="nowrap">
              <VisibleSwitch model={model} onChange={setVisible} pending={pending === model.id} />
              <Text size="sm">{model.visible ? 'Clients see it in their list of models.' : hiddenInWords(model)}</Text>
            </Group>
          </Fact>
          <Fact name="Serves">{model.operations.map((operation) => operationWords[operation]).join(', ')}</Fact>
          {model.aliases.length > 0 && <Fact name="Other names">{model.aliases.join(', ')}</Fact>}
          {model.space !== null && <Fact name="Vector space">{model.space}</Fact>}
          {model.scores !== null && <Fact name="Scale of scores">{model.scores}</Fact>}
          {model.updatedAt !== null && (
            <Fact name="Changed">
              <When at={model.updatedAt} />
              {!model.inForce && ' – being put in force'}
            </Fact>
          )}
        </Table.Tbody>
      </Table>
      <Stack gap="xs">
        <Heading>Targets</Heading>
        {model.targets.map((target) => (
          <TargetCard key={`${target.upstream} ${target.model}`} target={target} />
        ))}
      </Stack>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w={130}>
        {name}
      </Table.Th>
      <Table.Td className="breaks">{children}</Table.Td>
    </Table.Tr>
  );
}

function TargetCard({ target }: { readonly target: ModelTarget }) {
  const { upstream, model, priority, weight, bridge, price, health, isListed, nodes } = target;
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
          <StatusBadge state={health} />
          <Success {...callsOf([target])} />
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

function nodeInWords({
  state,
  why,
  restsForMs,
  latencyMs,
  inFlight,
  waiting,
  restingCredentials,
}: ModelTarget['nodes'][number]) {
  const words = [state === 'resting' && restsForMs > 0 ? `rests for ${formatDuration(restsForMs)}` : state];
  if (why !== null) words.push(why);
  if (latencyMs > 0) words.push(`first byte after about ${formatDuration(latencyMs)}`);
  if (inFlight > 0) words.push(`${inFlight} under way`);
  if (waiting > 0) words.push(`${waiting} waiting`);
  if (restingCredentials.length > 0) words.push(`resting credentials: ${restingCredentials.join(', ')}`);
  return words.join(', ');
}

interface VisibleSwitchProps {
  readonly model: Model;
  readonly pending: boolean;
  onChange(id: string, visible: boolean): void;
}

/** Whether clients see a model: a switch, or where it is decided otherwise. */
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
