/** Shows members, open invitations and sign-in methods. */

import { Button, Checkbox, Group, Menu, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Invitation, type MadeLink, type Member, type Role, roles } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useMember, useSession } from '../../parts/api/session.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed, notifyWithUndo } from '../../parts/dialogs/undo.tsx';
import { FormDialog } from '../../parts/forms/form-dialog.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { InParts, Remark } from '../../parts/layout/text.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { Needs, roleWords, useMay } from '../../parts/session/role.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { Section, ShownOnce } from './section.tsx';

const membersKey = ['members'];

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
        about="Viewers read, editors change models, admins change upstreams, keys and settings, owners manage members."
        action={
          <Needs role="owner">
            <Action icon="plus" label="Invite somebody" variant="filled" onClick={() => setInviting(true)} />
          </Needs>
        }
      >
        {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
        {error === null && data === undefined && <Loading rows={3} />}
        {data !== undefined && <MemberTable items={data.items} mayChange={isOwner} onReset={setLink} />}
      </Section>
      {isOwner && data !== undefined && data.invitations.length > 0 && <Invitations items={data.invitations} />}
      <SignInMethods />
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
    <>
      <DataTable
        verticalSpacing="sm"
        stacks
        columns={[
          'Member',
          'Role',
          { title: 'Last seen', className: 'one-line' },
          { title: 'More', isHidden: true, ta: 'right' },
        ]}
        rows={items.map((member) => ({
          id: member.id,
          cells: [
            <div key="member">
              <Group gap="xs">
                <Text size="sm" fw={600}>
                  {member.name}
                </Text>
                {member.disabled && <StatusBadge state="off" label="Disabled" />}
              </Group>
              <Remark className="breaks">
                <InParts text={member.email} />
              </Remark>
            </div>,
            <Select
              key="role"
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
            />,
            <When key="seen" at={member.lastSeenAt} />,
            mayChange && (
              <Menu key="more" position="bottom-end" withinPortal>
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
            ),
          ],
        }))}
      />
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
    </>
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

function SignInMethods() {
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

/** Invitations that have not been accepted. */
function Invitations({ items }: { readonly items: readonly Invitation[] }) {
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: ({ id }: Invitation) => ask('DELETE /api/invitations/:id', { params: { id } }),
    onSuccess: (_, { email }) => notifyDone(`The invitation of ${email} is taken back.`),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey: membersKey }),
  });
  return (
    <Section title="Invited" about="The links themselves are shown once; invite again to have another one.">
      <Stack gap="xs">
        {items.map((invitation) => (
          <Group key={invitation.id} justify="space-between" gap="sm">
            <Stack gap={0}>
              <Text size="sm" className="breaks">
                <InParts text={invitation.email} />, as {invitation.role}
              </Text>
              <Remark>
                by {invitation.invitedBy}; ends <When at={invitation.expiresAt} />
              </Remark>
            </Stack>
            <Button size="xs" variant="default" onClick={() => mutate(invitation)}>
              Take back
            </Button>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

function InviteMember({ onClose, onMade }: { onClose(): void; onMade(made: MadeLink, email: string): void }) {
  const queries = useQueryClient();
  const { form, ...api } = useApiForm({
    initialValues: { email: '', role: 'viewer' as Role },
    draftKey: 'invite-member',
    submit: (values) => ask('POST /api/members', { body: values }),
    onDone: (made, { email }) => {
      void queries.invalidateQueries({ queryKey: membersKey });
      onMade(made, email);
    },
  });
  return (
    <FormDialog api={api} title="Invite somebody" submitLabel="Make a link" onClose={onClose}>
      <TextInput label="E-mail address" type="email" required data-autofocus {...form.getInputProps('email')} />
      <Radio.Group label="Role" {...form.getInputProps('role')}>
        <Stack gap="xs" mt={6}>
          {roles.map((role) => (
            <Radio key={role} value={role} label={role} description={roleWords[role]} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}

interface ResetMemberProps {
  readonly member: Member;
  onClose(): void;
  onMade(link: MadeLink): void;
}

/** Makes a link with which a member sets a new password, and shows which of their credentials stay valid. */
function ResetMember({ member, onClose, onMade }: ResetMemberProps) {
  const queries = useQueryClient();
  // The idempotency key stays the same for a retry after a lost answer.
  const once = useRef(crypto.randomUUID?.() ?? String(Math.random()));
  const { form, ...api } = useApiForm({
    initialValues: { tokens: false, passkeys: false },
    submit: ({ tokens, passkeys }) =>
      ask('POST /api/members/:id/reset', {
        params: { id: member.id },
        headers: { 'idempotency-key': once.current },
        body: { keep: [...(tokens ? ['tokens'] : []), ...(passkeys ? ['passkeys'] : [])] },
      }),
    onDone: (made) => {
      void queries.invalidateQueries({ queryKey: membersKey });
      onMade(made);
    },
  });
  return (
    <FormDialog api={api} title={`Another password for ${member.name}`} submitLabel="Make a link" onClose={onClose}>
      <Text size="sm">
        {member.email} gets a link. API tokens and passkeys end now; password and sessions when the link is used. Who
        must be out at once is kept from signing in first.
      </Text>
      <Checkbox label="API tokens go on working" {...form.getInputProps('tokens', { type: 'checkbox' })} />
      <Checkbox label="Passkeys go on working" {...form.getInputProps('passkeys', { type: 'checkbox' })} />
    </FormDialog>
  );
}
