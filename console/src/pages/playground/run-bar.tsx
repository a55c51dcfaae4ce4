/** Starts a call, and stops it; Ctrl+Enter does so from every field of the form. */

import { Button, Group, Kbd, Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';

interface RunBarProps {
  readonly label: string;
  readonly isRunning: boolean;
  onStop(): void;
  /** Why it cannot be sent yet. */
  readonly missing?: string | undefined;
}

export function RunBar({ label, isRunning, onStop, missing }: RunBarProps) {
  return (
    <Group gap="sm">
      <Needs role="editor">
        <Button
          type="submit"
          leftSection={<Icon name="play" size={16} />}
          disabled={missing !== undefined}
          loading={isRunning}
        >
          {label}
        </Button>
      </Needs>
      {isRunning ? (
        <Button variant="default" leftSection={<Icon name="stop" size={16} />} onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {missing ?? (
            <>
              <Kbd size="xs">Ctrl</Kbd> + <Kbd size="xs">Enter</Kbd>
            </>
          )}
        </Text>
      )}
      <VisuallyHidden role="status">{isRunning ? 'Running' : ''}</VisuallyHidden>
    </Group>
  );
}

interface CallFormProps {
  onRun(): void;
  readonly canRun: boolean;
  readonly children: ReactNode;
}

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
