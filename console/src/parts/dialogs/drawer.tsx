/** Shows details in a drawer beside a list; on a phone it fills the screen. */

import { CloseButton, Group, Paper, ScrollArea, Title, Transition } from '@mantine/core';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useEscapeBeneath } from './escape.ts';

interface SideDrawerProps {
  readonly opened: boolean;
  onClose(): void;
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** Width in pixels, if there is room. */
  readonly width?: number;
  /** The subject of the drawer; when it changes, screen readers read the title again. */
  readonly subject?: string;
}

export function SideDrawer({ opened, onClose, title, children, width = 520, subject }: SideDrawerProps) {
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const cameFrom = useRef<Element | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is another reason to read the title
  useEffect(() => {
    if (!opened) return;
    cameFrom.current ??= document.activeElement;
    heading.current?.focus({ preventScroll: true });
  }, [opened, subject]);

  const close = (): void => {
    onClose();
    if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus();
    cameFrom.current = null;
  };
  useEscapeBeneath(opened, close);

  return (
    <Transition mounted={opened} transition="slide-left" duration={140}>
      {(style) => (
        <Paper
          component="aside"
          aria-labelledby={titleId}
          className="side-drawer"
          style={{ ...style, '--side-width': `${width}px` }}
          withBorder
          radius={0}
          shadow="xl"
        >
          <Group justify="space-between" wrap="nowrap" className="side-drawer-head">
            <Title order={2} size="h4" id={titleId} ref={heading} tabIndex={-1} className="side-drawer-title">
              {title}
            </Title>
            <CloseButton onClick={close} aria-label="Close the details" />
          </Group>
          <ScrollArea className="side-drawer-body" type="auto" viewportProps={{ tabIndex: 0 }}>
            {children}
          </ScrollArea>
        </Paper>
      )}
    </Transition>
  );
}
