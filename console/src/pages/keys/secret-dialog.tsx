/** Shows a secret once, with calls that are ready to be pasted; it does not go away unasked. */

import { Box, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect } from 'react';
import type { KeyWithSecret } from '../../../../src/admin/contract.ts';
import { useFocusReturn } from '../../parts/dialogs/escape.ts';
import { CopyButton, useCopied } from '../../parts/snippets/copy.tsx';
import { nameOf } from './key-badges.tsx';
import { KeySnippets } from './key-snippets.tsx';
import { Notice } from './notice.tsx';

interface SecretDialogProps {
  readonly made: KeyWithSecret;
  readonly isRotated: boolean;
  readonly onClose: () => void;
}

export function SecretDialog({ made, isRotated, onClose }: SecretDialogProps) {
  useFocusReturn();
  const isNarrow = useMediaQuery('(max-width: 40em)') ?? false;
  const { copied, onCopied, close } = useCopied({
    title: 'Did you copy the secret?',
    body: 'It is shown only now, and Postern keeps no copy of it. Without it, the key is of no use until it gets another secret.',
    onClose,
  });
  useWarningBeforeLeaving(!copied);

  return (
    <Modal
      opened
      onClose={() => void close()}
      title={isRotated ? `The new secret of ${nameOf(made)}` : `${nameOf(made)} is made`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      fullScreen={isNarrow}
    >
      <Stack>
        <Stack gap={6}>
          <Text size="sm">
            This is the secret. It is shown only now: put it where your other secrets are, such as a vault.
          </Text>
          <Code block className="secret" onCopy={onCopied}>
            {made.secret}
          </Code>
          <Box onClickCapture={onCopied}>
            <CopyButton text={made.secret} label="Copy the secret" wide />
          </Box>
        </Stack>
        {isRotated && made.oldSecretUntil !== null && (
          <Text size="sm">
            The former secret goes on working until {new Date(made.oldSecretUntil).toLocaleString()}.
          </Text>
        )}
        <Warnings warnings={made.warnings} />
        <KeySnippets document={made.document} secret={made.secret} onCopied={onCopied} />
        <Group justify="flex-end">
          <Button onClick={() => void close()}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <Notice title="Worth a look">
      <Stack gap={4}>
        {warnings.map((warning) => (
          <Text key={warning} size="sm" className="breaks">
            {warning}
          </Text>
        ))}
      </Stack>
    </Notice>
  );
}

/** A reload or a closed tab takes the secret along. */
function useWarningBeforeLeaving(wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [wanted]);
}
