/** A button that copies text, and a snippet with such a button. */

import { ActionIcon, Box, Button, Group, Tooltip, VisuallyHidden } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useConfirm } from '../dialogs/confirm.tsx';
import { Remark } from '../layout/text.tsx';
import { Icon, type IconName } from '../marks/icon.tsx';

const saidForMs = 1_600;

/** Copies a text; false if the browser refuses. */
async function copyText(text: string): Promise<boolean> {
  try {
    // The clipboard is missing on a page loaded over plain HTTP from another machine.
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // The browser refused; the older method may still work.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'off-screen';
  // Inside an open dialog, which would take the focus back from an element outside it.
  const place = document.activeElement?.closest('[role="dialog"]') ?? document.body;
  const focused = document.activeElement;
  place.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}

type Outcome = 'copied' | 'refused' | undefined;

function useCopy(text: string): { readonly outcome: Outcome; readonly said: string; copy(): void } {
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), saidForMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => void copyText(text).then((copied) => setOutcome(copied ? 'copied' : 'refused'));
  const said = outcome === 'copied' ? 'Copied' : outcome === 'refused' ? 'Select the text and copy it by hand' : '';
  return { outcome, said, copy };
}

interface CopyButtonProps {
  readonly text: string;
  /** The label, which says what is copied: "Copy the secret". */
  readonly label: string;
  /** Whether to show the label as text, and not as an icon. */
  readonly wide?: boolean;
  readonly icon?: IconName;
}

export function CopyButton({ text, label, wide = false, icon: own = 'copy' }: CopyButtonProps) {
  const { outcome, said, copy } = useCopy(text);
  const icon = <Icon name={outcome === 'copied' ? 'check' : own} size={16} />;
  return (
    <>
      {wide ? (
        <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
          {said || label}
        </Button>
      ) : (
        <Tooltip label={said || label} {...(said === '' ? {} : { opened: true })} withinPortal>
          <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={label}>
            {icon}
          </ActionIcon>
        </Tooltip>
      )}
      <VisuallyHidden role="status">{said}</VisuallyHidden>
    </>
  );
}

interface SnippetProps {
  readonly code: string;
  /** The display name of the language: "curl", "Python". */
  readonly language?: string;
  /** The label of the copy button; default: "Copy". */
  readonly label?: string;
}

export const Snippet = ({ code, language, label = 'Copy' }: SnippetProps) => (
  <Box className="snippet">
    <Group justify="space-between" className="snippet-head" wrap="nowrap">
      <Remark>{language}</Remark>
      <CopyButton text={code} label={label} />
    </Group>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
    <pre className="snippet-code" tabIndex={0}>
      <code>{code}</code>
    </pre>
  </Box>
);

interface CopiedOptions {
  /** The question, such as "Did you copy the secret?" */
  readonly title: string;
  readonly body: string;
  onClose(): void;
}

/** Lets a dialog with a secret, which is shown only once, ask before it closes if nothing was copied. */
export function useCopied({ title, body, onClose }: CopiedOptions) {
  const confirm = useConfirm();
  const [copied, setCopied] = useState(false);
  return {
    copied,
    onCopied: () => setCopied(true),
    async close(): Promise<void> {
      if (copied || (await confirm({ title, body, confirm: 'Close it', danger: true }))) onClose();
    },
  };
}
