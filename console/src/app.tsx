/** The shell: who is signed in, the ways to each page, and the page itself. */

import { AppShell, Burger, Center, Group, Loader, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { pages } from './pages/index.ts';
import { Icon } from './parts/icon.tsx';

export function App() {
  const [opened, { toggle, close }] = useDisclosure();
  const [location] = useLocation();
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="lg"
    >
      <AppShell.Header>
        <Group h="100%" px="md">
          <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Pages" />
          <Text fw={700}>Postern</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        {pages.map(({ path, title, icon }) => (
          <NavLink
            key={path}
            component={Link}
            href={path}
            label={title}
            leftSection={<Icon name={icon} />}
            active={path === '/' ? location === '/' : location.startsWith(path)}
            onClick={close}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Suspense
          fallback={
            <Center h={200}>
              <Loader />
            </Center>
          }
        >
          <Switch>
            {pages.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
          </Switch>
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}
