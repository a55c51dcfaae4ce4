/** How every tab is laid out: what goes in on one side, what comes out on the other, the call as text below. */

import { Grid, Group, Kbd, Paper, Stack, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Action } from '../../parts/layout/button.tsx';
import { Muted, Remark } from '../../parts/layout/text.tsx';
import { Icon, type IconName } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import type { Answer } from './call.ts';

/** A share of the window's height. */
const highEnough = 0.75;

interface TabFrameProps {
  readonly form: ReactNode;
  readonly result: ReactNode;
  readonly source: ReactNode;
  /** Another one comes into view, where it would stand below the edge of the window. */
  readonly answer: Answer | undefined;
  /** Two answers stand side by side and want room. */
  readonly isWide?: boolean;
}

export function TabFrame({ form, result, source, answer, isWide = false }: TabFrameProps) {
  const results = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (answer !== undefined) bringIntoView(results.current);
  }, [answer]);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: isWide ? 4 : 5 }}>
        <Paper withBorder p="md" component="section" aria-label="What is sent">
          {form}
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: isWide ? 8 : 7 }}>
        <Stack gap="lg" component="section" aria-label="What comes back" ref={results} className="play-results">
          {result}
          {source}
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

/** Where the two stand side by side, nothing moves. */
function bringIntoView(results: HTMLElement | null): void {
  if (results === null || results.getBoundingClientRect().top < window.innerHeight * highEnough) return;
  const behavior = window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
  results.scrollIntoView({ behavior, block: 'start' });
}

/** Stands where the answer will be. */
export const NothingYet = ({ icon, children }: { readonly icon: IconName; readonly children: ReactNode }) => (
  <div className="play-empty">
    <Icon name={icon} size={28} />
    <Muted ta="center" maw={380}>
      {children}
    </Muted>
  </div>
);

interface RunBarProps {
  readonly label: string;
  readonly isRunning: boolean;
  onStop(): void;
  /** Why it cannot be sent yet. */
  readonly missing?: string | undefined;
}

/** Starts a call, and stops it. */
export const RunBar = ({ label, isRunning, onStop, missing }: RunBarProps) => (
  <Group gap="sm">
    <Needs role="editor">
      <Action
        icon="play"
        label={label}
        variant="filled"
        type="submit"
        disabled={missing !== undefined}
        loading={isRunning}
      />
    </Needs>
    {isRunning ? (
      <Action icon="stop" label="Stop" onClick={onStop} />
    ) : (
      <Remark visibleFrom="sm">
        {missing ?? (
          <>
            <Kbd size="xs">Ctrl</Kbd> + <Kbd size="xs">Enter</Kbd>
          </>
        )}
      </Remark>
    )}
    <VisuallyHidden role="status">{isRunning ? 'Running' : ''}</VisuallyHidden>
  </Group>
);

interface CallFormProps {
  onRun(): void;
  readonly canRun: boolean;
  readonly children: ReactNode;
}

/** Ctrl+Enter sends it from every field. */
export function CallForm({ onRun, canRun, children }: CallFormProps) {
  const run = (): void => {
    if (canRun) onRun();
  };
  return (
    <form
      className="play-form"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        run();
      }}
    >
      {children}
    </form>
  );
}
