/** What is running here: version, configuration, store, and what was noticed. */

import { Alert, List, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { About as Facts } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Bytes, Count, When } from '../../parts/words/numbers.tsx';
import { Section } from './section.tsx';

const stores: Readonly<Record<Facts['store']['kind'], string>> = {
  memory: 'In memory: it ends with the process',
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
};

export function About() {
  const { data, error, refetch } = useQuery({
    queryKey: ['about'],
    queryFn: ({ signal }) => ask('GET /api/about', { signal }),
  });
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={8} />;
  const { configuration, store, counts } = data;
  const rows: readonly (readonly [name: string, value: ReactNode])[] = [
    ['Version', data.version],
    ['Runtime', data.runtime],
    ['Started', <When key="started" at={data.startedAt} />],
    ['Processes that serve', <Count key="workers" value={data.workers} />],
    ['Memory', <Bytes key="memory" value={data.memoryBytes} />],
    [
      'Clients are served at',
      <span key="url" className="breaks">
        {data.clientUrl}
      </span>,
    ],
    [
      'Configuration',
      <span key="file" className="breaks">
        {configuration.file ?? 'none: the embedded one holds'}
      </span>,
    ],
    ['Read', <When key="read" at={configuration.readAt} />],
    ['Store', stores[store.kind]],
    ['Its size', <Bytes key="size" value={store.bytes} />],
    ['Upstreams, models', `${counts.upstreams}, ${counts.models}`],
    ['Keys, projects', `${counts.keys}, ${counts.projects}`],
  ];
  return (
    <>
      <Section title="About this gateway">
        <div className="settings-table">
          <Table>
            <Table.Tbody>
              {rows.map(([name, value]) => (
                <Table.Tr key={name}>
                  <Table.Th scope="row">{name}</Table.Th>
                  <Table.Td>{value}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      </Section>
      {configuration.warnings.length > 0 && (
        <Section title="Noticed in the configuration">
          <Alert variant="light" color="yellow" icon={<Icon name="warning" />}>
            <List size="sm" spacing={4}>
              {configuration.warnings.map((warning) => (
                <List.Item key={warning} className="breaks">
                  {warning}
                </List.Item>
              ))}
            </List>
          </Alert>
        </Section>
      )}
      <Section title="Read on" about="These files come with this version.">
        <List size="sm">
          {data.docs.map(({ title, path }) => (
            <List.Item key={path}>
              {title}:{' '}
              <Text span inherit ff="monospace" className="breaks">
                {path}
              </Text>
            </List.Item>
          ))}
          <List.Item>
            The admin API as an OpenAPI document: <a href="/api/openapi.json">/api/openapi.json</a>
          </List.Item>
        </List>
      </Section>
    </>
  );
}
