/** What is shown to whom: the ways in to those who are not signed in, the pages to those who are. */

import { Center, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Route, Switch, useLocation } from 'wouter';
import { Entrance } from './pages/entrance/entrance.tsx';
import { Invitation, SetUp } from './pages/entrance/invitation.tsx';
import { Proved, SignIn } from './pages/entrance/sign-in.tsx';
import { pages } from './pages/index.ts';
import { sessionQuery } from './parts/api/session.ts';
import { Action } from './parts/layout/button.tsx';
import { toMessage } from './parts/layout/state.tsx';
import { provedPage } from './parts/session/proof-channel.ts';
import { NotFound } from './parts/shell/page-boundary.tsx';
import { Shell } from './parts/shell/shell.tsx';

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
    <Shell member={session.member} version={session.version} pages={pages}>
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
const Waiting = () => (
  <Center h="100vh" role="status" aria-label="Loading">
    <Loader className="late" />
  </Center>
);

const Away = ({ error, onRetry }: { readonly error: unknown; onRetry(): void }) => (
  <Entrance title="The console cannot be shown" about={toMessage(error)}>
    <Action icon="refresh" label="Try again" variant="filled" onClick={onRetry} />
  </Entrance>
);
