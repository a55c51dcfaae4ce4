/** Single-key shortcuts: they open pages, start a search, move along a list; a help lists them. */

import { Group, Kbd, Modal, Stack, Text, Title } from '@mantine/core';
import { createSpotlight } from '@mantine/spotlight';
import { Fragment, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { PageEntry } from './navigation.tsx';

export const [paletteStore, palette] = createSpotlight();

/** Marks the link or button of each row that the list shortcuts move along. */
export const listItem = { 'data-list-item': '' } as const;

/** The longest time between `g` and the letter. */
const sequenceMs = 1_500;

export function Shortcuts({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [, go] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => {
    let goUntilMs = 0;
    const hear = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const isGoing = event.timeStamp < goUntilMs;
      goUntilMs = 0;
      if (isGoing) {
        const page = pages.find(({ letter }) => letter === event.key);
        if (page === undefined) return;
        event.preventDefault();
        go(page.path);
        return;
      }
      if (event.key === 'g') goUntilMs = event.timeStamp + sequenceMs;
      const act = actions[event.key];
      if (act === undefined && event.key !== '?') return;
      event.preventDefault();
      if (act === undefined) setHelpOpen(true);
      else act();
    };
    window.addEventListener('keydown', hear);
    window.addEventListener(helpEvent, show);
    function show(): void {
      setHelpOpen(true);
    }
    return () => {
      window.removeEventListener('keydown', hear);
      window.removeEventListener(helpEvent, show);
    };
  }, [pages, go]);
  return <Help pages={pages} opened={isHelpOpen} onClose={() => setHelpOpen(false)} />;
}

const helpEvent = 'postern-shortcuts';

export const showShortcuts = (): void => void window.dispatchEvent(new Event(helpEvent));

/** Whether a key press is not for shortcuts: while typing, with a modifier key, or while a dialog is open. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (document.querySelector('[aria-modal="true"]') !== null) return true;
  const { target } = event;
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable="true"]') !== null;
}

const actions: Readonly<Record<string, () => void>> = {
  '/': search,
  j: () => step(1),
  k: () => step(-1),
};

/** Focuses the page's search field, or opens the command palette if the page has none. */
function search(): void {
  const field = document.querySelector<HTMLInputElement>('#main input[type="search"]');
  if (field === null) palette.open();
  field?.focus();
  field?.select();
}

/** Moves to another item of the open drawer, or else of the list. */
function step(by: 1 | -1): void {
  const button = document.querySelector<HTMLButtonElement>(`#main [data-step="${by}"]`);
  if (button !== null) {
    button.click();
    return;
  }
  const items: (Element | null)[] = [...document.querySelectorAll('#main [data-list-item]')];
  const at = items.indexOf(document.activeElement);
  const next = items[at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by];
  if (!(next instanceof HTMLElement)) return;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

interface HelpProps {
  readonly pages: readonly PageEntry[];
  readonly opened: boolean;
  onClose(): void;
}

const general: readonly (readonly [keys: readonly string[], words: string])[] = [
  [['/'], 'Search on this page'],
  [['Ctrl', 'K'], 'Command palette: pages, names, request IDs, actions'],
  [['j'], 'Next row of the list, or next request'],
  [['k'], 'Previous row of the list, or previous request'],
  [['Enter'], 'Open the row'],
  [['Esc'], 'Close what is open'],
  [['Ctrl', 'Enter'], 'Run, in the playground'],
  [['?'], 'This help'],
];

function Help({ pages, opened, onClose }: HelpProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="lg">
      <Group align="flex-start" gap="xl" grow preventGrowOverflow={false}>
        <Keys title="Everywhere" rows={general} />
        <Keys title="Go to a page" rows={pages.map(({ letter, title }) => [['g', letter], title] as const)} />
      </Group>
    </Modal>
  );
}

const Keys = ({ title, rows }: { readonly title: string; readonly rows: typeof general }) => (
  <Stack gap="xs" miw={220}>
    <Title order={3} size="h6">
      {title}
    </Title>
    <dl className="shortcuts">
      {rows.map(([keys, words]) => (
        <Fragment key={words}>
          <dt>
            {keys.map((key) => (
              <Kbd key={key} size="xs">
                {key}
              </Kbd>
            ))}
          </dt>
          <Text size="sm" component="dd">
            {words}
          </Text>
        </Fragment>
      ))}
    </dl>
  </Stack>
);
