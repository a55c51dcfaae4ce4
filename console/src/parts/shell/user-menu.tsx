/** Who is signed in, as what, and the way out. */

import { Badge, Button, Divider, Group, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from 'wouter';
import type { Member } from '../../../../src/admin/contract.ts';
import { Icon } from '../marks/icon.tsx';
import { roleWords } from '../session/role.tsx';
import { signOut } from '../session/sign-out.ts';

interface UserMenuProps {
  readonly member: Member;
  readonly version: string;
}

export function UserMenu({ member, version }: UserMenuProps) {
  const [opened, { toggle, close }] = useDisclosure();
  const called = member.name || member.email;
  return (
    <Popover opened={opened} onChange={toggle} position="bottom-end" offset={10} width={280} trapFocus withinPortal>
      <Popover.Target>
        <UnstyledButton
          className="user-button"
          data-initials={initialsOf(called)}
          aria-label={`${called}: your account`}
          onClick={toggle}
        />
      </Popover.Target>
      <Popover.Dropdown p="sm" aria-label="Your account">
        <Stack gap="xs">
          <About member={member} />
          <Divider />
          <Stack gap={2}>
            <Button
              component={Link}
              href="/settings"
              onClick={close}
              leftSection={<Icon name="settings" size={16} />}
              {...asItem}
            >
              Settings
            </Button>
            <Button onClick={() => void signOut()} leftSection={<Icon name="leave" size={16} />} {...asItem}>
              Sign out
            </Button>
          </Stack>
          <Divider />
          <Text size="xs" c="dimmed" px={8}>
            Postern {version}
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

const asItem = {
  variant: 'subtle',
  color: 'gray',
  size: 'sm',
  justify: 'flex-start',
  className: 'plain-item',
} as const;

function About({ member: { name, email, role } }: { readonly member: Member }) {
  return (
    <Stack gap={4} px={8} pt={4}>
      <Group justify="space-between" wrap="nowrap">
        <Text fw={600} truncate>
          {name || email}
        </Text>
        <Badge variant="default" className="plain-badge">
          {role}
        </Badge>
      </Group>
      <Text size="sm" c="dimmed" truncate>
        {email}
      </Text>
      <Text size="xs" c="dimmed">
        {roleWords[role]}
      </Text>
    </Stack>
  );
}

function initialsOf(name: string): string {
  const words = name.split(/[\s@.]+/).filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();
}
