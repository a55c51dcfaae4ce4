/** One entry of the audit log: actor, action, subject and the differences. */

import { Collapse, Group, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useId } from 'react';
import type { AuditEntry } from '../../../../src/admin/contract.ts';
import { DataTable } from '../layout/table.tsx';
import { Muted, Remark } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { When } from '../words/numbers.tsx';
import { mostDifferences, toDifferences } from './differences.ts';

interface AuditRowProps {
  readonly entry: AuditEntry;
  /** What can be done with it, below its differences. */
  readonly action?: ReactNode;
}

export function AuditRow({ entry, action }: AuditRowProps) {
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
              {entry.name === null ? (
                <Text span inherit ff="monospace" fz="xs">
                  {entry.subject}
                </Text>
              ) : (
                <span title={entry.subject}>{entry.name}</span>
              )}
            </Text>
          </Group>
          <Remark component="span" className="numeric">
            <When at={entry.at} />
          </Remark>
        </Group>
      </UnstyledButton>
      <Collapse expanded={opened} id={id}>
        {opened && (
          <>
            <Differences entry={entry} />
            {action !== undefined && <div className="audit-body">{action}</div>}
          </>
        )}
      </Collapse>
    </li>
  );
}

/** `key.create` reads "key, create": what it is about, and what was done. */
const toWords = (action: string): string => action.replaceAll(/[._]/g, ' ');

function Differences({ entry: { before, after } }: { readonly entry: AuditEntry }) {
  const differences = toDifferences(before, after);
  if (differences.length === 0) {
    return <Muted className="audit-body">Nothing of it that the log may show is different.</Muted>;
  }
  return (
    <div className="audit-body">
      <DataTable
        stacks
        layout="fixed"
        verticalSpacing={4}
        withTableBorder
        isNamed
        columns={[
          { title: 'Field', className: 'any-wrap' },
          { title: 'Before', className: 'difference-removed' },
          { title: 'After', className: 'difference-added' },
        ]}
        rows={differences.map(({ path, before, after }) => ({
          id: path,
          cells: [
            path === '' ? 'the value' : path,
            before === undefined ? '' : `− ${before}`,
            after === undefined ? '' : `+ ${after}`,
          ],
        }))}
      />
      {differences.length >= mostDifferences && (
        <Remark>These are the first {mostDifferences}; the API has the whole entry.</Remark>
      )}
    </div>
  );
}
