/** What stands around every page: the head, the ways to each page, and what may come above them. */

import { ActionIcon, AppShell, Burger, Button, Drawer, Group, Kbd, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { type ReactNode, Suspense, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import type { Member } from '../../../../src/admin/contract.ts';
import { ConfirmProvider } from '../dialogs/confirm.tsx';
import { Loading } from '../layout/state.tsx';
import { Icon } from '../marks/icon.tsx';
import { ExpiredSession } from '../session/expired-session.tsx';
import { Proof } from '../session/proof.tsx';
import { ColourScheme } from './colour-scheme.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { GuardedRouter } from './guarded-router.tsx';
import { Mark } from './mark.tsx';
import { Navigation } from './navigation.tsx';
import { PageBoundary } from './page-boundary.tsx';
import type { PageEntry } from './page-entry.ts';
import { Palette } from './palette.tsx';
import { UserMenu } from './user-menu.tsx';

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
            <PageBoundary at={location}>
              <Suspense fallback={<Loading rows={8} />}>{children}</Suspense>
            </PageBoundary>
          </AppShell.Main>
        </AppShell>
        <Palette pages={pages} />
        <Proof />
        <ExpiredSession />
      </GuardedRouter>
    </ConfirmProvider>
  );
}

/** Whoever listens or goes by keys is put at the beginning of the page that was chosen. */
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

/** Of `/models/gpt-4`: what is opened within a page is the page's own affair. */
const pageOf = (location: string): string => location.split('/', 2)[1] ?? '';

function PaletteButton() {
  const isWide = useMediaQuery('(min-width: 48em)');
  if (!isWide) {
    return (
      <ActionIcon variant="subtle" color="gray" size="lg" onClick={spotlight.open} aria-label="Search">
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
        onClick={spotlight.open}
      >
        Search <VisuallyHidden>pages, models, keys and actions</VisuallyHidden>
      </Button>
    </Tooltip>
  );
}

const isMac = (): boolean => /mac|iphone|ipad/i.test(navigator.userAgent);
