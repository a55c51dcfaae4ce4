/** What is known of an upstream: its state with the reason, its credentials by name, its targets, and what each node says. */

import { Anchor, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { UpstreamDetail } from '../../../../src/admin/contract.ts';
import { Heading, Muted } from '../../parts/layout/text.tsx';
import { ManagedBy, StatusBadge, Success } from '../../parts/marks/status.tsx';
import { Count, Duration, When } from '../../parts/words/numbers.tsx';
import { UnderWay } from './upstream-list.tsx';
import { stateWords } from './upstream-words.ts';

export function UpstreamFacts({ upstream }: { readonly upstream: UpstreamDetail }) {
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
      <Table aria-label="About it" layout="fixed">
        <Table.Tbody>
          <Row name="Family">{family.title}</Row>
          <Row name="Address">{address ?? 'none: it answers inside the gateway'}</Row>
          <Row name="Time to the first byte">
            {latencyMs === 0 ? 'not called in the last 5 minutes' : <Duration ms={latencyMs} />}
          </Row>
          <Row name="Health check">{healthCheck ? 'from time to time' : 'none; calls show how it is'}</Row>
          {updatedAt !== null && (
            <Row name="Changed">
              <When at={updatedAt} />
            </Row>
          )}
        </Table.Tbody>
      </Table>
      <Credentials upstream={upstream} />
      <Targets upstream={upstream} />
      <Nodes upstream={upstream} />
    </Stack>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w="40%">
        {name}
      </Table.Th>
      <Table.Td className="breaks">{children}</Table.Td>
    </Table.Tr>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Heading mb={6}>{title}</Heading>
      {children}
    </section>
  );
}

const originWords = {
  store: 'sealed in the store',
  file: 'in the configuration file',
  environment: 'from the environment',
  path: 'in a file of its own',
} as const;

function Credentials({ upstream: { credentials } }: { readonly upstream: UpstreamDetail }) {
  return (
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
              <StatusBadge
                state="resting"
                why="It was refused, or had called too often; it is tried again by itself."
              />
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

function Targets({ upstream: { targets } }: { readonly upstream: UpstreamDetail }) {
  if (targets.length === 0) return null;
  return (
    <Section title="Models that use it">
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label="Models that use it">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Its own name</Table.Th>
              <Table.Th>For clients</Table.Th>
              <Table.Th miw={150}>State</Table.Th>
              <Table.Th ta="right">First byte</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {targets.map(({ model, models, state, why, isListed, latencyMs, calls, failedCalls }) => (
              <Table.Tr key={model}>
                <Table.Td className="breaks">{model}</Table.Td>
                <Table.Td className="breaks">
                  {models.map((id) => (
                    <Anchor key={id} component={Link} href={`/models?model=${encodeURIComponent(id)}`} size="sm" mr={8}>
                      {id}
                    </Anchor>
                  ))}
                </Table.Td>
                <Table.Td>
                  <StatusBadge state={state} why={why} />
                  <Success calls={calls} failedCalls={failedCalls} />
                  {!isListed && <Text size="sm">Not in the upstream's list</Text>}
                </Table.Td>
                <Table.Td ta="right">{latencyMs === 0 ? '–' : <Duration ms={latencyMs} />}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

/** Where there is one alone, it is what stands above. */
function Nodes({ upstream: { nodes } }: { readonly upstream: UpstreamDetail }) {
  if (nodes.length < 2) return null;
  return (
    <Section title="As each gateway finds it">
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label="As each gateway finds it">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Gateway</Table.Th>
              <Table.Th miw={150}>State</Table.Th>
              <Table.Th ta="right">Under way</Table.Th>
              <Table.Th ta="right">First byte</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {nodes.map(({ node, state, why, inFlight, latencyMs }) => (
              <Table.Tr key={node}>
                <Table.Td className="breaks">{node}</Table.Td>
                <Table.Td>
                  <StatusBadge state={state} why={why} />
                </Table.Td>
                <Table.Td ta="right">
                  <Count value={inFlight} />
                </Table.Td>
                <Table.Td ta="right">{latencyMs === 0 ? '–' : <Duration ms={latencyMs} />}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}
