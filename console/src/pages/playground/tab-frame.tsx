/** Lays out a tab: input on one side, output on the other, the call as text below. */

import { Grid, Group, Kbd, Menu, Paper, Stack, Text, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Action, IconButton } from '../../parts/layout/button.tsx';
import { Muted, Remark } from '../../parts/layout/text.tsx';
import { Icon, type IconName } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { CopyButton } from '../../parts/snippets/copy.tsx';
import type { Values } from '../../parts/snippets/share.ts';
import { toShared } from '../../parts/snippets/share.ts';
import { When } from '../../parts/words/numbers.tsx';
import type { Answer } from './call.ts';
import { type Run, readRuns } from './hooks.ts';

/** Results that begin above this share of the window's height count as in view. */
const highEnough = 0.75;

interface TabFrameProps {
  readonly form: ReactNode;
  readonly result: ReactNode;
  readonly source: ReactNode;
  /** The answer; a new one is scrolled into view if it would be below the edge of the window. */
  readonly answer: Answer | undefined;
  /** Whether more width is needed, as for two answers side by side. */
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

/** Scrolls to the results if they are not in view, which happens only if form and results are not side by side. */
function bringIntoView(results: HTMLElement | null): void {
  if (results === null || results.getBoundingClientRect().top < window.innerHeight * highEnough) return;
  const behavior = window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
  results.scrollIntoView({ behavior, block: 'start' });
}

/** Shown until there is an answer. */
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
  /** Why the call cannot be sent yet. */
  readonly missing?: string | undefined;
  readonly tools?: ReactNode;
}

/** The button that starts and stops a call; always in view, however long the form is. */
export const RunBar = ({ label, isRunning, onStop, missing, tools }: RunBarProps) => (
  <Group gap="sm" className="play-run">
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
    <span className="play-tools">{tools}</span>
    <VisuallyHidden role="status">{isRunning ? 'Running' : ''}</VisuallyHidden>
  </Group>
);

interface FormToolsProps {
  /** The name under which the browser stores the tab's form and its runs. */
  readonly draft: string;
  readonly route: string;
  readonly values: Values;
  onPick(values: Values): void;
}

/** The runs of this tab, and a link to the current form. */
export function FormTools({ draft, route, values, onPick }: FormToolsProps) {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const path = toShared(route, values);
  return (
    <Group gap={4} wrap="nowrap">
      <Menu
        position="top-end"
        withinPortal
        onOpen={() => setRuns(readRuns(draft))}
        styles={{ itemLabel: { minWidth: 0 } }}
      >
        <Menu.Target>
          <IconButton icon="clock" label="History of this tab" title="History of this tab" />
        </Menu.Target>
        <Menu.Dropdown maw={420}>
          <Menu.Label>
            {runs.length === 0 ? 'Nothing was run here yet' : 'Run before; choose one to get it back'}
          </Menu.Label>
          {runs.map(({ at, values: own }) => (
            <Menu.Item key={at} onClick={() => onPick(own)}>
              <Text size="sm" truncate>
                {summaryOf(own)}
              </Text>
              <Remark>
                {String(own.model ?? '')}, <When at={at} />
              </Remark>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {path === undefined ? (
        <IconButton icon="link" label="Too long for a link" title="Too long for a link" disabled />
      ) : (
        <CopyButton text={location.origin + path} label="Copy a link to this form" icon="link" />
      )}
    </Group>
  );
}

/** A summary of a run: the longest text of its form, which identifies it best. */
const summaryOf = ({ model: _, ...values }: Values): string =>
  Object.values(values)
    .filter((value) => typeof value === 'string')
    .reduce((longest, value) => (value.length > longest.length ? value : longest), '')
    .slice(0, 120) || 'An empty form';

interface CallFormProps {
  onRun(): void;
  readonly canRun: boolean;
  readonly children: ReactNode;
}

/** The form of a call. Ctrl+Enter sends the call from every field. */
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
