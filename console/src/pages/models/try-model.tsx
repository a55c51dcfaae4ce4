/** Sends a small request to a model, as a client would, and shows what came back. */

import { Anchor, Button, Card, Group, Select, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Model, ModelTestAnswer, Operation } from '../../../../src/admin/contract.ts';
import { Failed } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { formatDuration } from '../../parts/words/format.ts';
import { cannotBeTried, operationChoices } from '../../parts/words/operations.ts';
import { tryModel } from './model-data.ts';

export function TryModel({ model }: { readonly model: Pick<Model, 'id' | 'operations' | 'visible' | 'inForce'> }) {
  const [picked, setPicked] = useState<string | null>(null);
  const tested = model.operations.filter((one) => !cannotBeTried(one));
  const operation = tested.find((one) => one === picked) ?? tested[0];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (wanted: Operation) => tryModel(model.id, wanted),
  });
  const isPattern = model.id.includes('*');
  if (operation === undefined) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        Test
      </Title>
      <Text size="sm" c="dimmed">
        {isPattern
          ? 'Its name is a pattern: try a name that fits it in the playground.'
          : 'Sends a small request through the gateway, with its limits, retries and price.'}
      </Text>
      {!isPattern && (
        <Needs role="editor">
          <Group gap="xs" align="flex-end">
            {tested.length > 1 && (
              <Select
                aria-label="What to test"
                data={operationChoices.filter(({ value }) => tested.includes(value))}
                value={operation}
                onChange={setPicked}
                allowDeselect={false}
                w={170}
              />
            )}
            <Button
              variant="default"
              leftSection={<Icon name="play" size={16} />}
              loading={isPending}
              disabled={!model.inForce}
              onClick={() => mutate(operation)}
            >
              Send a test request
            </Button>
          </Group>
        </Needs>
      )}
      <div aria-live="polite">
        {error !== null && <Failed error={error} />}
        {data !== undefined && !isPending && <Answer answer={data} isHidden={!model.visible} />}
      </div>
    </Stack>
  );
}

function Answer({ answer, isHidden }: { readonly answer: ModelTestAnswer; readonly isHidden: boolean }) {
  const { ok, status, durationMs, upstream, attempts, excerpt, requestId } = answer;
  const by = upstream === null ? '' : ` from ${upstream}`;
  const tries = attempts === null || attempts < 2 ? '' : `, after ${attempts} attempts`;
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <Group gap="xs">
          <StatusBadge state={ok ? 'ok' : 'error'} label={ok ? 'It answers' : 'It does not answer'} />
          <Text size="sm">{`${status}${by} in ${formatDuration(durationMs)}${tries}`}</Text>
        </Group>
        <Anchor size="sm" component={Link} href={`/requests?clientRequestId=${encodeURIComponent(requestId)}`}>
          See the request
        </Anchor>
      </Group>
      {!ok && isHidden && status === 404 && (
        <Text size="sm" mt="xs">
          It is hidden, and on this route a hidden model answers as if it were not there. Show it to clients to test it.
        </Text>
      )}
      {excerpt !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        <pre className="snippet-code excerpt" tabIndex={0}>
          {excerpt}
        </pre>
      )}
    </Card>
  );
}
