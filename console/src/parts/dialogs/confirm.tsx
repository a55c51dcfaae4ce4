/** Asks for confirmation before a destructive action: one dialog for the whole console. */

import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { createContext, type FormEvent, type ReactNode, useCallback, useContext, useState } from 'react';
import { useEscapeAbove } from './escape.ts';

interface Question {
  /** The question, such as "Revoke the key dev?" */
  readonly title: string;
  /** The consequence of the action, and whether it can be undone. */
  readonly body: ReactNode;
  /** The action, as the label of the button: "Revoke". */
  readonly confirm: string;
  readonly danger?: boolean;
  /** The text to type first, for actions that cannot be undone. */
  readonly typeToConfirm?: string;
}

/** Stacking order above that of other dialogs, because a dialog may ask for confirmation too. */
const aboveDialogs = 250;

type Ask = (question: Question) => Promise<boolean>;

interface Asked {
  readonly question: Question;
  answer(yes: boolean): void;
}

const ConfirmContext = createContext<Ask>(async () => false);

/** Returns a function that asks: `if (await confirm({ title, body, confirm: 'Revoke', danger: true })) …` */
export function useConfirm(): Ask {
  return useContext(ConfirmContext);
}

export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<Asked>();
  const [opened, setOpened] = useState(false);
  const ask = useCallback<Ask>(
    (question) =>
      new Promise((resolve) => {
        setAsked({ question, answer: resolve });
        setOpened(true);
      }),
    [],
  );
  // The dialog keeps its text while it fades out.
  const answer = (yes: boolean): void => {
    asked?.answer(yes);
    setOpened(false);
  };
  useEscapeAbove(opened, () => answer(false));
  return (
    <ConfirmContext value={ask}>
      {children}
      <Modal
        opened={opened}
        onClose={() => answer(false)}
        closeOnEscape={false}
        onExitTransitionEnd={() => setAsked(undefined)}
        title={asked?.question.title}
        centered
        zIndex={aboveDialogs}
        closeButtonProps={{ 'aria-label': 'Cancel' }}
      >
        {asked !== undefined && <Body question={asked.question} onAnswer={answer} />}
      </Modal>
    </ConfirmContext>
  );
}

function Body({ question, onAnswer }: { readonly question: Question; onAnswer(yes: boolean): void }) {
  const { body, confirm, danger = false, typeToConfirm } = question;
  const [typed, setTyped] = useState('');
  const mayGoOn = typeToConfirm === undefined || typed.trim() === typeToConfirm;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (mayGoOn) onAnswer(true);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" component="div">
          {body}
        </Text>
        {typeToConfirm !== undefined && (
          <TextInput
            label={
              <>
                Type <strong>{typeToConfirm}</strong> to go on
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => onAnswer(false)} data-autofocus={danger && !typeToConfirm}>
            Cancel
          </Button>
          <Button type="submit" {...(danger ? { color: 'red' } : {})} disabled={!mayGoOn}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
