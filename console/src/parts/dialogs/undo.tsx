/** Reports that an action was done, and offers to undo it for some seconds. */

import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { toMessage } from '../layout/state.tsx';

const undoForMs = 10_000;

interface UndoFacts {
  /** What was done, such as "gpt-4 is hidden from clients now." */
  readonly message: string;
  undo(): Promise<unknown> | unknown;
  readonly undone?: string;
}

export function notifyWithUndo({ message, undo, undone = 'Undone.' }: UndoFacts): void {
  const id = notifications.show({
    autoClose: undoForMs,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="default" onClick={() => void takeBack()}>
          Undo
        </Button>
      </Group>
    ),
  });

  async function takeBack(): Promise<void> {
    notifications.hide(id);
    try {
      await undo();
      notifyDone(undone);
    } catch (error) {
      notifyFailed(error);
    }
  }
}

export function notifyDone(message: string): void {
  notifications.show({ message });
}

export function notifyFailed(error: unknown): void {
  notifications.show({ color: 'red', title: 'That did not work', message: toMessage(error), autoClose: undoForMs });
}
