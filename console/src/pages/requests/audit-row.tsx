/** One change: who did what to which thing, and what is different since. */

import { Collapse, Group, Table, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import type { AuditEntry } from '../../../../src/admin/contract.ts';
import { Icon } from '../../parts/marks/icon.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { type Difference, mostDifferences, toDifferences } from './differences.ts';

export function AuditRow({ entry }: { readonly entry: AuditEntry }) {
  const [opened, { toggle }] = useDisclosure();
  const id = useId();
  return (
    <li className="audit-row">
      <UnstyledButton onClick={toggle} aria-expanded={opened} aria-controls={id} className="audit-head">
        <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <span className={opened ? 'audit-mark audit-mark-open' : 'audit-mark'}>
              <Icon name="chevron" size={16} />
            </span>
            <Text size="sm" className="any-wrap">
              <strong>{entry.actor}</strong>: {toWords(entry.action)}{' '}
              <Text span inherit ff="monospace" fz="xs">
                {entry.subject}
              </Text>
            </Text>
          </Group>
          <Text size="xs" c="dimmed" component="span" className="numeric">
            <When at={entry.at} />
          </Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={opened} id={id}>
        {opened && <Differences entry={entry} />}
      </Collapse>
    </li>
  );
}

/** `key.create` reads "key, create": what it is about, and what was done. */
const toWords = (action: string): string => action.replaceAll(/[._]/g, ' ');

function Differences({ entry: { before, after } }: { readonly entry: AuditEntry }) {
  const differences = toDifferences(before, after);
  if (differences.length === 0) {
    return (
      <Text size="sm" c="dimmed" className="audit-body">
        Nothing of it that the log may show is different.
      </Text>
    );
  }
  return (
    <div className="audit-body">
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing={4} withTableBorder>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differences.map((difference) => (
              <DifferenceRow key={difference.path} difference={difference} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {differences.length >= mostDifferences && (
        <Text size="xs" c="dimmed">
          These are the first {mostDifferences}; the API has the whole entry.
        </Text>
      )}
    </div>
  );
}

function DifferenceRow({ difference: { path, before, after } }: { readonly difference: Difference }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} className="any-wrap">
        {path === '' ? 'the value' : path}
      </Table.Th>
      <Table.Td className="difference-removed">{before === undefined ? '' : `− ${before}`}</Table.Td>
      <Table.Td className="difference-added">{after === undefined ? '' : `+ ${after}`}</Table.Td>
    </Table.Tr>
  );
}
