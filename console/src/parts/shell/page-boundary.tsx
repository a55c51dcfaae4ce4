/** Catches errors of a page, so that the rest of the console continues to work. */

import { Button, Group } from '@mantine/core';
import { Component, type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { ask, unreachable, useFlag } from '../api/client.ts';
import { PageHead, useTitle } from '../layout/page-head.tsx';
import { Empty } from '../layout/state.tsx';
import { Snippet } from '../snippets/copy.tsx';

interface BoundaryProps {
  /** The current page; the error is cleared when it changes. */
  readonly at: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly error: Error | undefined;
  readonly at: string;
}

export class PageBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { error: undefined, at: this.props.at };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps({ at }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return at === state.at ? null : { at, error: undefined };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    if (isMissingChunk(error)) return <Outdated />;
    return <Broken error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}

/** Whether a file of a page is missing: after an upgrade, those of the old build are gone. Each browser has its own error text for that. */
const isMissingChunk = ({ message }: Error): boolean =>
  /dynamically imported module|importing a module script failed|error loading|unable to preload/i.test(message);

const reload = (): void => location.reload();

/** Shown if a page's file cannot be loaded. The gateway may be unreachable for a moment: the page is loaded again once it is back. */
function Outdated() {
  const isAway = useFlag(unreachable);
  const wasAway = useRef(false);
  useEffect(() => void ask('GET /api/session').catch(() => undefined), []);
  useEffect(() => {
    if (wasAway.current && !isAway) reload();
    wasAway.current = isAway;
  }, [isAway]);
  if (isAway) {
    return (
      <Empty isPage icon="clock" title="This page is not loaded yet">
        The gateway cannot be reached. The page is loaded as soon as it is back.
      </Empty>
    );
  }
  return (
    <Empty
      isPage
      icon="refresh"
      title="This part of the console could not be loaded"
      action={<Button onClick={reload}>Reload</Button>}
    >
      The gateway was probably upgraded since you opened this tab. Reload to get the new console.
    </Empty>
  );
}

const Broken = ({ error, onRetry }: { readonly error: Error; onRetry(): void }) => (
  <>
    <PageHead
      title="This page broke"
      about="The rest of the console still works. If it happens again, this is what to report:"
    />
    <Snippet code={`${error.name}: ${error.message}`} label="Copy what went wrong" />
    <Group mt="md">
      <Button onClick={onRetry}>Try again</Button>
      <Button variant="default" onClick={reload}>
        Reload
      </Button>
    </Group>
  </>
);

/** Shown for a page that the member's role does not have. */
export function NotAllowed({ title, role }: { readonly title: string; readonly role: string }) {
  useTitle(title);
  return (
    <Empty
      isPage
      icon="ban"
      title={`${title}: only for the role ${role}`}
      action={
        <Button component={Link} href="/">
          Go to the overview
        </Button>
      }
    >
      An owner can give you that role, under Settings, Members.
    </Empty>
  );
}

export function NotFound() {
  useTitle('No such page');
  return (
    <Empty
      isPage
      icon="search"
      title="There is no page here"
      action={
        <Button component={Link} href="/">
          Go to the overview
        </Button>
      }
    >
      The address may be mistyped, or what it led to has another place now.
    </Empty>
  );
}
