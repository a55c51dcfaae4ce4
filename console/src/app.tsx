/** What is shown to whom: the ways in to those who are not signed in, the pages to those who are. */

import { Button, Center, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Route, Switch, useLocation } from 'wouter';
import { sessionQuery } from './api/session.ts';
import { pages } from './pages/index.ts';
import { Icon } from './parts/icon.tsx';
import { toMessage } from './parts/state.tsx';
import { Entrance } from './shell/entrance.tsx';
import { Invitation } from './shell/invitation.tsx';
import { NotFound } from './shell/not-found.tsx';
import { provedPage } from './shell/proof-channel.ts';
import { Proved } from './shell/proved.tsx';
import { SetUp } from './shell/set-up.tsx';
import { Shell } from './shell/shell.tsx';
import { SignIn } from './shell/sign-in.tsx';

export function App() {
  const [location] = useLocation();
  if (location === '/setup') return <SetUp />;
  if (location === '/join' || location === '/invite') return <Invitation />;
  if (location === provedPage) return <Proved />;
  return <Inside />;
}

function Inside() {
  const { data: session, error, refetch } = useQuery(sessionQuery);
  if (session === undefined) {
    return error === null ? <Waiting /> : <Away error={error} onRetry={() => void refetch()} />;
  }
  if (session.member === null) return <SignIn session={session} />;
  return (
    <Shell member={session.member} version={session.version}>
      <Switch>
        {pages.map(({ path, component }) => (
          // What is behind the page's own path is the page's own affair.
          <Route key={path} path={path === '/' ? path : `${path}/*?`} component={component} />
        ))}
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}

/** Seldom seen: the answer comes from the same machine. */
function Waiting() {
  return (
    <Center h="100vh" role="status" aria-label="Loading">
      <Loader className="late" />
    </Center>
  );
}

function Away({ error, onRetry }: { readonly error: unknown; onRetry(): void }) {
  return (
    <Entrance title="The console cannot be shown" about={toMessage(error)}>
      <Button leftSection={<Icon name="refresh" size={16} />} onClick={onRetry}>
        Try again
      </Button>
    </Entrance>
  );
}
