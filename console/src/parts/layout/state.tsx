/** Shows placeholders for data that is loading, failed to load, or is empty. */

import { Alert, Center, Group, Skeleton, Stack, Text, ThemeIcon, Title, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { Icon, type IconName } from '../marks/icon.tsx';
import { Action } from './button.tsx';
import { Muted } from './text.tsx';

interface LoadingProps {
  /** The expected number of rows, so that nothing moves when they are loaded. */
  readonly rows?: number;
  readonly rowHeight?: number;
}

export function Loading({ rows = 6, rowHeight = 40 }: LoadingProps) {
  const keys = Array.from({ length: rows }, (_, row) => `row ${row}`);
  return (
    <Stack gap="xs" role="status" aria-busy="true">
      <VisuallyHidden>Loading</VisuallyHidden>
      {keys.map((key) => (
        <Skeleton key={key} height={rowHeight} radius="md" />
      ))}
    </Stack>
  );
}

export const Failed = ({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) => (
  <Alert variant="light" color="red" title="This could not be loaded" icon={<Icon name="warning" />} role="alert">
    <Stack gap="sm" align="flex-start">
      <Text size="sm">{toMessage(error)}</Text>
      {onRetry !== undefined && <Action icon="refresh" label="Try again" size="xs" onClick={onRetry} />}
    </Stack>
  </Alert>
);

/** The error as text, with what is wrong with each field, for places without a form that shows it. */
export function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong; try again.';
  const faults = error instanceof ApiError ? error.fields.map(({ message }) => message) : [];
  return [error.message, ...faults.filter((fault) => !error.message.includes(fault))].join(' ');
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** The next step, in one or two sentences. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly isPage?: boolean;
}

export const Empty = ({ icon, title, children, action, isPage = false }: EmptyProps) => (
  <Center py={48} px="md">
    <Stack align="center" gap="sm" maw={460}>
      <ThemeIcon size={52} radius="xl" variant="light" aria-hidden>
        <Icon name={icon} size={26} />
      </ThemeIcon>
      <Title order={isPage ? 1 : 2} size="h4" ta="center">
        {title}
      </Title>
      {children !== undefined && <Muted ta="center">{children}</Muted>}
      {action !== undefined && (
        <Group mt={4} justify="center">
          {action}
        </Group>
      )}
    </Stack>
  </Center>
);

interface NoticeProps {
  readonly title: string;
  readonly icon?: IconName;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A notice, readable in both colour schemes. */
export const Notice = ({ title, icon = 'warning', className, children }: NoticeProps) => (
  <Alert
    variant="default"
    className={className}
    title={title}
    icon={
      <span className="tone-wait">
        <Icon name={icon} />
      </span>
    }
  >
    {children}
  </Alert>
);
