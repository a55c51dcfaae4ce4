/** Who may come in, as what; invitations that wait; and how people sign in. */

import { Button, Group, Menu, Select, Table, Text, VisuallyHidden } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { MadeLink, Member, Role } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useMember, useSession } from '../../parts/api/session.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed, notifyWithUndo } from '../../parts/dialogs/undo.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { Needs, useMay } from '../../parts/session/role.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { Invitations } from './invitations.tsx';
import { InviteMember } from './invite-member.tsx';
import { membersKey } from './members-key.ts';
import { ResetMember } from './reset-member.tsx';
import { Section } from './section.tsx';
import { ShownOnce } from './shown-once.tsx';

const roles: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];

interface Link extends MadeLink {
  readonly email: string;
  readonly kind: 'invitation' | 'reset';
}

export function Members() {
  const isOwner = useMay('owner');
  const [inviting, setInviting] = useState(false);
  const [link, setLink] = useState<Link>();
  const { data, error, refetch } = useQuery({
    queryKey: membersKey,
    queryFn: ({ signal }) => ask('GET /api/members', { signal }),
  });
  return (
    <>
      <Section
        title="Members"
        about="Viewers look, editors change models, admins change upstreams, keys and settings, owners say who may."
        action={
          <Needs role="owner">
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setInviting(true)}>
              Invite somebody
            </Button>
          </Needs>
        }
      >
        {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
        {error === null && data === undefined && <Loading rows={3} />}
        {data !== undefined && <MemberTable items={data.items} mayChange={isOwner} onReset={setLink} />}
      </Section>
      {isOwner && data !== undefined && data.invitations.length > 0 && <Invitations items={data.invitations} />}
      <Ways />
      {inviting && (
        <InviteMember
          onClose={() => setInviting(false)}
          onMade={(made, email) => {
            setInviting(false);
            setLink({ ...made, email, kind: 'invitation' });
          }}
        />
      )}
      {link !== undefined && <LinkDialog link={link} onClose={() => setLink(undefined)} />}
    </>
  );
}

interface MemberTableProps {
  readonly items: readonly Member[];
  readonly mayChange: boolean;
  onReset(link: Link): void;
}

function MemberTable({ items, mayChange, onReset }: MemberTableProps) {
  const own = useMember();
  const queries = useQueryClient();
  const confirm = useConfirm();
  const settled = { onError: notifyFailed, onSettled: () => queries.invalidateQueries({ queryKey: membersKey }) };
  const change = (id: string, body: { readonly role: Role } | { readonly disabled: boolean }) =>
    ask('PATCH /api/members/:id', { params: { id }, body });
  const role = useMutation({
    mutationFn: ({ member, next }: { member: Member; next: Role }) => change(member.id, { role: next }),
    onSuccess: (_, { member, next }) =>
      notifyWithUndo({
        message: `${member.name} is ${next} now.`,
        undo: async () => {
          await change(member.id, { role: member.role });
          await queries.invalidateQueries({ queryKey: membersKey });
        },
      }),
    ...settled,
  });
  const able = useMutation({
    mutationFn: (member: Member) => change(member.id, { disabled: !member.disabled }),
    onSuccess: (_, { name, disabled }) =>
      notifyDone(disabled ? `${name} may sign in again.` : `${name} is signed out, and cannot sign in.`),
    ...settled,
  });
  const removal = useMutation({
    mutationFn: ({ id }: Member) => ask('DELETE /api/members/:id', { params: { id } }),
    onSuccess: (_, { name }) => notifyDone(`${name} is removed.`),
    ...settled,
  });
  const [resetting, setResetting] = useState<Member>();

  async function remove(member: Member): Promise<void> {
    const yes = await confirm({
      title: `Remove ${member.name}?`,
      body: `${member.email} is signed out everywhere, and their API tokens and passkeys end. This cannot be undone; an invitation brings them back.`,
      confirm: 'Remove',
      danger: true,
      typeToConfirm: member.email,
    });
    if (yes) removal.mutate(member);
  }

  return (
    <div className="settings-table">
      <Table verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Member</Table.Th>
            <Table.Th scope="col">Role</Table.Th>
            <Table.Th scope="col">Last seen</Table.Th>
            <Table.Th scope="col">
              <VisuallyHidden>More</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((member) => (
            <Table.Tr key={member.id}>
              <Table.Td>
                <Group gap="xs">
                  <Text size="sm" fw={600}>
                    {member.name}
                  </Text>
                  {member.disabled && <StatusBadge state="off" label="Disabled" />}
                </Group>
                <Text size="xs" c="dimmed" className="breaks">
                  {member.email}
                </Text>
              </Table.Td>
              <Table.Td>
                <Select
                  aria-label={`Role of ${member.name}`}
                  data={roles.map((one) => ({ value: one, label: one }))}
                  value={member.role}
                  onChange={(next) => {
                    if (next !== null && next !== member.role) role.mutate({ member, next: next as Role });
                  }}
                  allowDeselect={false}
                  disabled={!mayChange}
                  size="xs"
                  w={110}
                />
              </Table.Td>
              <Table.Td>
                <When at={member.lastSeenAt} />
              </Table.Td>
              <Table.Td ta="right">
                {mayChange && (
                  <Menu position="bottom-end" withinPortal>
                    <Menu.Target>
                      <Button size="xs" variant="subtle" color="gray" aria-label={`More for ${member.name}`}>
                        More
                      </Button>
                    </Menu.Target>
                    <Menu.Dropdown>
                      <Menu.Item onClick={() => setResetting(member)}>Make a link for another password</Menu.Item>
                      {member.id !== own?.id && (
                        <>
                          <Menu.Item onClick={() => able.mutate(member)}>
                            {member.disabled ? 'Let sign in again' : 'Keep from signing in'}
                          </Menu.Item>
                          <Menu.Item color="red" onClick={() => void remove(member)}>
                            Remove
                          </Menu.Item>
                        </>
                      )}
                    </Menu.Dropdown>
                  </Menu>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {resetting !== undefined && (
        <ResetMember
          member={resetting}
          onClose={() => setResetting(undefined)}
          onMade={(made) => {
            setResetting(undefined);
            onReset({ ...made, email: resetting.email, kind: 'reset' });
          }}
        />
      )}
    </div>
  );
}

function LinkDialog({ link, onClose }: { readonly link: Link; onClose(): void }) {
  const isReset = link.kind === 'reset';
  return (
    <ShownOnce
      title={isReset ? `A link for ${link.email}` : `${link.email} is invited`}
      about={
        <>
          Hand this link to {link.email} yourself: Postern sends no mail. It works once, until{' '}
          {new Date(link.expiresAt).toLocaleString()}, and is shown only now.
        </>
      }
      text={link.link}
      copyLabel="Copy the link"
      onClose={onClose}
    />
  );
}

/** How people can sign in here. */
function Ways() {
  const signIn = useSession()?.signIn;
  return (
    <Section
      title="Ways to sign in"
      about="Passwords and passkeys always work. An identity provider is the operator's to configure, in the file, as it decides who gets in."
    >
      <Text size="sm">
        {signIn?.oidc == null
          ? 'No identity provider is configured; the section console.oidc of the configuration file adds one.'
          : `Members also sign in with ${signIn.oidc.title}.`}
      </Text>
    </Section>
  );
}
