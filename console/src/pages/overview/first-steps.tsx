/** For a new gateway: the three steps to a first answer, each ticked off as it is done. */

import { Anchor, Box, Button, Group, Paper, PasswordInput, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { FirstSteps as Steps } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Snippet } from '../../parts/snippets/copy.tsx';
import { toCurlLine } from '../../parts/snippets/curl-line.ts';
import { isNew, useFirstSteps } from './overview-data.ts';

const hiddenName = 'postern.first-steps.hidden';

export function FirstSteps() {
  const { data: steps } = useFirstSteps();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenName) !== null);
  if (steps === undefined || !isNew(steps) || isHidden) return null;
  const hide = (): void => {
    localStorage.setItem(hiddenName, '1');
    setHidden(true);
  };
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-labelledby="first-steps">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="first-steps">
          Three steps to the first answer
        </Title>
        <Button variant="subtle" size="compact-sm" onClick={hide}>
          Hide this
        </Button>
      </Group>
      <Stack gap="md">
        <Step number={1} isDone={steps.hasKey} title="Have a key">
          The first one was printed when the gateway first started. If you no longer have it,{' '}
          <Anchor component={Link} href="/keys" inherit underline="always">
            make another one
          </Anchor>
          .
        </Step>
        <Step number={2} isDone={steps.requests > 0} title="Send a request">
          <FirstRequest steps={steps} />
        </Step>
        <Step number={3} isDone={steps.tries > 0} title="Try the models in the Playground">
          <Anchor component={Link} href="/playground" inherit underline="always">
            Open the Playground
          </Anchor>
          , and see documents move into their new order, texts as points on a map, and edits as they are made.
        </Step>
      </Stack>
    </Paper>
  );
}

interface StepProps {
  readonly number: number;
  readonly isDone: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

const Step = ({ number, isDone, title, children }: StepProps) => (
  <Group wrap="nowrap" align="flex-start" gap="sm">
    <ThemeIcon
      radius="xl"
      size={28}
      variant={isDone ? 'filled' : 'default'}
      role="img"
      aria-label={isDone ? 'Done' : `Step ${number}`}
    >
      {isDone ? <Icon name="check" size={16} /> : <Text size="sm">{number}</Text>}
    </ThemeIcon>
    <Box miw={0} flex={1}>
      <Title order={3} size="h6" lh="28px">
        {title}
      </Title>
      <Muted>{children}</Muted>
    </Box>
  </Group>
);

/** The secret stays in this field: it goes nowhere but into the line to copy. */
function FirstRequest({ steps: { sample, requests } }: { readonly steps: Steps }) {
  const [key, setKey] = useState('');
  const { data: about } = useQuery({
    queryKey: ['about'],
    queryFn: ({ signal }) => ask('GET /api/about', { signal }),
  });
  if (requests > 0) return 'It came, and was answered.';
  if (sample === null) {
    return (
      <>
        No model can be seen by clients yet:{' '}
        <Anchor component={Link} href="/models" inherit underline="always">
          make one visible
        </Anchor>{' '}
        first.
      </>
    );
  }
  return (
    <Stack gap="xs" mt={4} c="var(--mantine-color-text)">
      <PasswordInput
        label="Your key"
        description="Only to put it into the line below; it is neither sent nor kept."
        placeholder="Paste it here"
        value={key}
        onChange={({ currentTarget }) => setKey(currentTarget.value.trim())}
        maw={420}
        autoComplete="off"
      />
      <Snippet
        code={toCurlLine({ ...sample, baseUrl: about?.clientUrl ?? '', secret: key === '' ? undefined : key })}
        language="curl"
        label="Copy the curl command"
      />
    </Stack>
  );
}
