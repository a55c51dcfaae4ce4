/** Frames for the sections of the settings: heading, one sentence, and actions. */

import { Alert, Box, Button, Code, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Setting } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useFocusReturn } from '../../parts/dialogs/escape.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { CopyButton, useCopied } from '../../parts/snippets/copy.tsx';

interface SectionProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export const Section = ({ title, about, action, children }: SectionProps) => (
  <Stack gap="sm" mb="xl" component="section" className="settings-section">
    <Group justify="space-between" align="flex-start" gap="sm">
      <Stack gap={2} maw={520}>
        <Title order={2} size="h4">
          {title}
        </Title>
        {about !== undefined && <Muted>{about}</Muted>}
      </Stack>
      {action}
    </Group>
    {children}
  </Stack>
);

/** Draws the frame around a setting: whether it can be changed here, and where it is declared if not. */
export function SettingFrame({ id, children }: { readonly id: Setting['id']; children(setting: Setting): ReactNode }) {
  const { data, error, refetch } = useSettings();
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  const setting = data?.items.find((one) => one.id === id);
  if (setting === undefined) return <Loading rows={2} rowHeight={60} />;
  if (setting.managedBy !== 'store') {
    return (
      <Alert variant="light" color="gray" icon={<Icon name="file" />}>
        <Text size="sm" className="breaks">
          The configuration file decides this
          {setting.place !== null && ` (${setting.place.file}, line ${setting.place.line})`}. Change it there, or take
          it out there to change it here.
        </Text>
      </Alert>
    );
  }
  // A new version gets a new form with its values.
  return (
    <Needs role="admin" key={setting.version}>
      {children(setting)}
    </Needs>
  );
}

const queryKey = ['settings'];

/** The settings of the gateway that can be changed here, and the call that changes one. */
const useSettings = () =>
  useQuery({
    queryKey,
    queryFn: ({ signal }) => ask('GET /api/settings', { signal }),
  });

/** Replaces a whole setting; an empty one goes back to the default. */
export function useSettingWriter() {
  const queries = useQueryClient();
  return async ({ id, version }: Setting, document: Readonly<Record<string, unknown>>): Promise<void> => {
    const isEmpty = Object.keys(document).length === 0;
    const seen: Record<string, string> = version === 0 ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` };
    if (!isEmpty) await ask('PUT /api/settings/:id', { params: { id }, body: document, headers: seen });
    else if (version > 0) await ask('DELETE /api/settings/:id', { params: { id }, headers: seen });
    await queries.invalidateQueries({ queryKey });
  };
}

interface ShownOnceProps {
  readonly title: string;
  readonly about: ReactNode;
  readonly text: string;
  readonly copyLabel: string;
  readonly children?: ReactNode;
  onClose(): void;
}

/** Shows a secret or a link, which can be seen only once, until the user closes it. */
export function ShownOnce({ title, about, text, copyLabel, children, onClose }: ShownOnceProps) {
  useFocusReturn();
  const { onCopied, close } = useCopied({
    title: 'Did you copy it?',
    body: 'It is shown only now, and Postern keeps no copy of it.',
    onClose,
  });

  return (
    <Modal
      opened
      onClose={() => void close()}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm" component="div">
          {about}
        </Text>
        <Code block className="breaks" onCopy={onCopied}>
          {text}
        </Code>
        <Box onClickCapture={onCopied}>
          <CopyButton text={text} label={copyLabel} wide />
        </Box>
        {children}
        <Group justify="flex-end">
          <Button onClick={() => void close()}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
