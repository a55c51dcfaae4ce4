/** Shows one entry of the audit log: actor, action, subject and the differences. */

import { Collapse, Group, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useId } from 'react';
import type { AuditEntry } from '../../../../src/admin/contract.ts';
import { isMapping } from '../forms/documents.ts';
import { DataTable } from '../layout/table.tsx';
import { InParts, Muted, Remark } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { When } from '../words/numbers.tsx';
import { mostDifferences, toDifferences } from './differences.ts';

interface AuditRowProps {
  readonly entry: AuditEntry;
  /** An action for the entry, such as restoring, shown below the differences. */
  readonly action?: ReactNode;
}

export function AuditRow({ entry, action }: AuditRowProps) {
  const [opened, { toggle }] = useDisclosure();
  const id = useId();
  const { actor, done, what } = toSentence(entry);
  return (
    <li className="audit-row">
      <UnstyledButton onClick={toggle} aria-expanded={opened} aria-controls={id} className="audit-head">
        <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <span className={opened ? 'audit-mark audit-mark-open' : 'audit-mark'}>
              <Icon name="chevron" size={16} />
            </span>
            <Text size="sm" className="any-wrap">
              <strong>
                <InParts text={actor} />
              </strong>{' '}
              {done}{' '}
              <span title={entry.subject}>
                <InParts text={what} />
              </span>
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

const kinds: Readonly<Record<string, string>> = {
  key: 'the key',
  upstream: 'the upstream',
  model: 'the model',
  project: 'the project',
  setting: 'the setting',
  member: 'the member',
  token: 'the API token',
  passkey: 'the passkey',
  invitation: 'the invitation of',
};

const verbs: Readonly<Record<string, string>> = {
  ...{ create: 'created', change: 'changed', remove: 'removed', rotate: 'rotated the secret of', revoke: 'revoked' },
  ...{ add: 'added', rename: 'renamed', set: 'set', withdraw: 'withdrew', password: 'set the password of' },
};

/** Words for actions that are not made of a verb and a kind of element. */
const phrases: Readonly<Record<string, string>> = {
  'capture.read': 'read the bodies of request',
  'configuration.reload': 'was reloaded:',
  ...{ 'console.sign_in': 'signed in', 'console.sign_out': 'signed out' },
  'console.sign_in_failed': 'refused a sign-in of',
  'console.proof': 'confirmed their identity',
  'console.proof_failed': 'refused a confirmation of',
  'ledger.prune': 'deleted the ledger rows that began before',
  'member.invite': 'invited',
  'member.join': 'took in the invited member',
  'member.reset': 'made a link for another password of',
  'member.set_up': 'made the link for the first member',
};

/** Words for subjects that are neither an ID nor a name. */
const subjectWords: Readonly<Record<string, string>> = {
  'set-up': '',
  secret_key_backed_up: 'copy of the secret key',
  cleared_caches: 'forgotten caches',
};

/** A sentence with actor, action and subject. An action without words of its own is shown as it is stored. */
function toSentence({ actor: stored, action, subject, name, before, after }: AuditEntry) {
  const actor = stored.replace(/^console: /, '');
  const target = canaryTarget(subject);
  if (target !== undefined) {
    const isForgotten = isMapping(after) && after[subject] === null;
    return { actor, done: `${isForgotten ? 'forgot' : 'stored'} the reference vectors of`, what: target };
  }
  const [kind = '', verb = ''] = action.split('.');
  const put = before === null ? 'created' : 'changed';
  const word = verb === 'put' ? put : verbs[verb];
  const done = phrases[action] ?? (word && kinds[kind] ? `${word} ${kinds[kind]}` : action.replaceAll(/[._]/g, ' '));
  return { actor, done, what: subject === actor ? '' : (name ?? subjectWords[subject] ?? subject) };
}

/** The model, target and upstream's name in a setting such as `canary:["model","upstream","upstream's model"]`. */
function canaryTarget(subject: string): string | undefined {
  const [, model, upstream] = /^canary:\["((?:[^"\\]|\\.)*)","((?:[^"\\]|\\.)*)",/.exec(subject) ?? [];
  return model === undefined ? undefined : `${model} at ${upstream}`;
}

/** The value of a setting; the log has it in an object under the setting's name. */
const valueIn = ({ action, subject }: AuditEntry, document: unknown): unknown =>
  action === 'setting.set' && isMapping(document) ? document[subject] : document;

function Differences({ entry }: { readonly entry: AuditEntry }) {
  const differences = toDifferences(valueIn(entry, entry.before), valueIn(entry, entry.after));
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
