/** Shows the frame of every page: header, navigation, and overlays. */

import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Divider,
  Drawer,
  Group,
  Kbd,
  List,
  Loader,
  Popover,
  Stack,
  Text,
  Tooltip,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, Suspense, useCallback, useEffect, useRef } from 'react';
import { Link, Router, useLocation } from 'wouter';
import { useBrowserLocation } from 'wouter/use-browser-location';
import type { Member } from '../../../../src/admin/contract.ts';
import { ask, unreachable, useFlag } from '../api/client.ts';
import { ConfirmProvider, useConfirm } from '../dialogs/confirm.tsx';
import { isAnythingUnsaved, mayLeave, whenLeaving } from '../forms/draft.ts';
import { Loading } from '../layout/state.tsx';
import { Muted, Remark, Tag } from '../layout/text.tsx';
import { Icon, Mark } from '../marks/icon.tsx';
import { Proof } from '../session/proof.tsx';
import { roleWords } from '../session/role.tsx';
import { ExpiredSession } from '../session/sign-in-form.tsx';
import { signOut } from '../session/sign-out.ts';
import { When } from '../words/numbers.tsx';
import { ColourScheme } from './colour-scheme.tsx';
import { Navigation, type PageEntry } from './navigation.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { Palette } from './palette.tsx';
import { palette, Shortcuts, showShortcuts } from './shortcuts.tsx';

interface ShellProps {
  readonly member: Member;
  readonly version: string;
  readonly pages: readonly PageEntry[];
  readonly children: ReactNode;
}

export function Shell({ member, version, pages, children }: ShellProps) {
  const [opened, { open, close }] = useDisclosure();
  const [location] = useLocation();
  const main = useFocusOnArrival(location);
  return (
    <ConfirmProvider>
      <GuardedRouter>
        <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
          Skip to the page
        </button>
        <AppShell
          header={{ height: 52 }}
          navbar={{ width: 228, breakpoint: 'sm', collapsed: { mobile: true } }}
          padding={{ base: 'md', sm: 'xl' }}
        >
          <AppShell.Header>
            <Group h="100%" px="md" justify="space-between" wrap="nowrap">
              <Group gap="sm" wrap="nowrap">
                <Burger opened={opened} onClick={open} hiddenFrom="sm" size="sm" aria-label="Show the pages" />
                <Link href="/" className="brand">
                  <Mark />
                  <Text fw={700} component="span">
                    Postern
                  </Text>
                </Link>
              </Group>
              <Group gap="xs" wrap="nowrap">
                <PaletteButton />
                <ColourScheme />
                <UserMenu member={member} version={version} />
              </Group>
            </Group>
          </AppShell.Header>
          <AppShell.Navbar p="xs" visibleFrom="sm" component="div">
            <Navigation pages={pages} />
          </AppShell.Navbar>
          <Drawer opened={opened} onClose={close} title="Pages" size={270} hiddenFrom="sm">
            <Navigation pages={pages} onChoose={close} />
          </Drawer>
          <AppShell.Main ref={main} id="main" tabIndex={-1} className="main">
            <ConnectionBanner />
            <RefusedReload />
            <PageBoundary at={location}>
              <Suspense fallback={<Loading rows={8} />}>{children}</Suspense>
            </PageBoundary>
          </AppShell.Main>
        </AppShell>
        <Palette pages={pages} />
        <Shortcuts pages={pages} />
        <Proof />
        <ExpiredSession />
      </GuardedRouter>
    </ConfirmProvider>
  );
}

/** Moves the focus of keyboard and screen-reader users to the beginning of the new page. */
function useFocusOnArrival(location: string) {
  const main = useRef<HTMLElement>(null);
  const before = useRef(location);
  useEffect(() => {
    if (pageOf(before.current) !== pageOf(location)) {
      main.current?.focus({ preventScroll: true });
      window.scrollTo({ top: 0 });
    }
    before.current = location;
  }, [location]);
  return main;
}

/** The page of a path such as `/models/gpt-4`; what is opened within a page does not count. */
const pageOf = (location: string): string => location.split('/', 2)[1] ?? '';

function PaletteButton() {
  const isWide = useMediaQuery('(min-width: 48em)');
  if (!isWide) {
    return (
      <ActionIcon variant="subtle" color="gray" size="lg" onClick={palette.open} aria-label="Search">
        <Icon name="search" />
      </ActionIcon>
    );
  }
  return (
    <Tooltip label="Go to anything, do anything">
      <Button
        variant="default"
        size="xs"
        className="palette-button"
        leftSection={<Icon name="search" size={15} />}
        rightSection={<Kbd size="xs">{isMac() ? '⌘' : 'Ctrl'} K</Kbd>}
        onClick={palette.open}
      >
        Search <VisuallyHidden>pages, models, keys and actions</VisuallyHidden>
      </Button>
    </Tooltip>
  );
}

const isMac = (): boolean => /mac|iphone|ipad/i.test(navigator.userAgent);

const askEveryMs = 3_000;

/** Says that the gateway cannot be reached and tries again. Once it is back, the banner disappears and failed queries are fetched again. */
function ConnectionBanner() {
  const isAway = useFlag(unreachable);
  const queries = useQueryClient();
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => {
      // The gateway is still unreachable: the banner stays.
      ask('GET /api/session').catch(() => undefined);
    }, askEveryMs);
    return () => {
      clearInterval(timer);
      // The gateway is back: all queries that failed meanwhile are fetched again.
      void queries.invalidateQueries();
    };
  }, [isAway, queries]);
  return (
    <div role="status" className="connection-banner">
      {isAway && (
        <Group gap="sm" justify="center" className="connection-words" wrap="nowrap">
          <Loader size="xs" color="currentColor" />
          <Text size="sm" fw={500}>
            The gateway cannot be reached; trying again. Nothing that you typed is lost.
          </Text>
        </Group>
      )}
    </div>
  );
}

/** Changes pages, and asks first if an edited form or a secret would be left. */
function GuardedRouter({ children }: { readonly children: ReactNode }) {
  const confirm = useConfirm();
  useEffect(() => {
    whenLeaving((question) => confirm({ ...question, confirm: 'Leave', danger: true }));
    return () => whenLeaving(async () => true);
  }, [confirm]);
  return <Router hook={useGuardedLocation}>{children}</Router>;
}

function useGuardedLocation(): ReturnType<typeof useBrowserLocation> {
  const [location, navigate] = useBrowserLocation();
  const guarded = useCallback<typeof navigate>(
    (...where) => {
      if (!isAnythingUnsaved()) {
        navigate(...where);
        return;
      }
      void mayLeave().then((may) => {
        if (may) navigate(...where);
      });
    },
    [navigate],
  );
  return [location, guarded];
}

function UserMenu({ member, version }: { readonly member: Member; readonly version: string }) {
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
            <Button
              onClick={() => {
                close();
                showShortcuts();
              }}
              leftSection={<Icon name="help" size={16} />}
              {...asItem}
            >
              Keyboard shortcuts
            </Button>
            <Button onClick={() => void signOut()} leftSection={<Icon name="leave" size={16} />} {...asItem}>
              Sign out
            </Button>
          </Stack>
          <Divider />
          <Remark px={8}>Postern {version}</Remark>
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

const About = ({ member: { name, email, role } }: { readonly member: Member }) => (
  <Stack gap={4} px={8} pt={4}>
    <Group justify="space-between" wrap="nowrap">
      <Text fw={600} truncate>
        {name || email}
      </Text>
      <Tag>{role}</Tag>
    </Group>
    <Muted truncate>{email}</Muted>
    <Remark>{roleWords[role]}</Remark>
  </Stack>
);

function initialsOf(name: string): string {
  const words = name.split(/[\s@.]+/).filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();
}

const refusedEveryMs = 10_000;
const shownFaults = 5;

/** Shows each fault of a refused configuration file (file, line and reason), on every page, as long as the file is refused. */
function RefusedReload() {
  const { data } = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => ask('GET /api/configuration', { signal }),
    refetchInterval: refusedEveryMs,
  });
  if (data === undefined || data.refused === null) return null;
  const { at, faults } = data.refused;
  return (
    <Alert
      variant="light"
      color="red"
      mb="md"
      icon={<Icon name="warning" />}
      title="The configuration file is refused; what was read before is in force"
      role="alert"
      className="refused-reload"
    >
      <List size="sm" spacing={2} listStyleType="none">
        {faults.slice(0, shownFaults).map(({ file, line, message }) => (
          <List.Item key={`${file} ${line} ${message}`} className="any-wrap">
            <Text span inherit ff="monospace" fz="xs">
              {[file ?? data.file, line].filter((part) => part !== null).join(':')}
            </Text>{' '}
            {message}
          </List.Item>
        ))}
      </List>
      <Text size="xs" mt={4}>
        {faults.length > shownFaults && `And ${faults.length - shownFaults} more. `}
        Refused <When at={at} />; read last <When at={data.readAt} />.
      </Text>
    </Alert>
  );
}
