/** Asks a member whose session has ended to sign in again, above the page: nothing that was typed there is lost. */

import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { expired, useFlag } from '../api/flag.ts';
import { useSession } from '../api/session.ts';
import { useEscapeAbove } from '../dialogs/escape.ts';
import { SignInForm } from './sign-in-form.tsx';
import { leaveConsole } from './sign-out.ts';

export function ExpiredSession() {
  const session = useSession();
  const isExpired = useFlag(expired);
  useCatchUp(isExpired);
  useEscapeAbove(isExpired, () => undefined);
  if (session?.member === undefined || session.member === null) return null;
  return (
    <Modal
      opened={isExpired}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      centered
      zIndex={1000}
    >
      <Stack>
        <Text size="sm">Sign in again to go on where you were. What you typed is still there.</Text>
        <SignInForm ways={session.signIn} email={session.member.email} />
        <Group justify="center">
          <Button variant="subtle" size="compact-sm" onClick={leaveConsole}>
            Use another account
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** What was refused meanwhile is asked for again. */
function useCatchUp(isExpired: boolean): void {
  const queries = useQueryClient();
  const was = useRef(isExpired);
  useEffect(() => {
    if (was.current && !isExpired) void queries.invalidateQueries();
    was.current = isExpired;
  }, [isExpired, queries]);
}
