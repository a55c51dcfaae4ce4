/** The console's root component: shows sign-in pages to visitors, and all other pages to signed-in members. */

import { Center, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { roles } from '../../src/admin/contract.ts';
import { Entrance } from './pages/entrance/entrance.tsx';
import { FirstOwner, Invitation } from './pages/entrance/invitation.tsx';
import { useLinkToken } from './pages/entrance/link-token.ts';
import { Proved, SignIn } from './pages/entrance/sign-in.tsx';
import { pages } from './pages/index.ts';
import { sessionQuery } from './parts/api/session.ts';
import { Action } from './parts/layout/button.tsx';
import { toMessage } from './parts/layout/state.tsx';
import { provedPage } from './parts/session/proof-channel.ts';
import { NotAllowed, NotFound } from './parts/shell/page-boundary.tsx';
import { Shell } from './parts/shell/shell.tsx';

const SetUp = lazy(() => import('./pages/set-up/set-up.tsx'));

export function App() {
  const [location] = useLocation();
  const token = useLinkToken();
  if (location === '/setup' && token !== undefined) return <FirstOwner token={token} />;
  if (location === '/join' || location === '/invite') return <Invitation />;
  if (location === provedPage) return <Proved />;
  return <Inside />;
}

function Inside() {
  const { data: session, error, refetch } = useQuery(sessionQuery);
  if (session === undefined) {
    return error === null ? <Waiting /> : <Away error={error} onRetry={() => void refetch()} />;
  }
  const { member } = session;
  if (member === null) return <SignIn session={session} />;
  const own = pages.filter(({ role = 'viewer' }) => roles.indexOf(member.role) >= roles.indexOf(role));
  return (
    <Shell member={member} version={session.version} pages={own}>
      <Switch>
        <Route path="/requests">
          <MovedRequests />
        </Route>
        <Route path="/setup" component={SetUp} />
        {own.map(({ path, component }) => (
          // A page handles the rest of its own path itself.
          <Route key={path} path={path === '/' ? path : `${path}/*?`} component={component} />
        ))}
        {pages.map(
          ({ path, title, role = 'viewer' }) =>
            !own.some((page) => page.path === path) && (
              <Route key={path} path={`${path}/*?`}>
                <NotAllowed title={title} role={role} />
              </Route>
            ),
        )}
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}

/** Redirects links to the Explorer page that were made when it was called Requests. */
function MovedRequests() {
  const query = new URLSearchParams(useSearch());
  const view = query.get('view');
  query.delete('view');
  if (view === 'changes') return <Redirect to={`/audit?${query}`} replace />;
  if (view === 'usage') query.set('view', 'cost');
  return <Redirect to={`/explorer?${query}`} replace />;
}

/** Shown while the session is read; rarely seen, because the answer comes from the same machine. */
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
