/** Texts and marks that every page has, each with one look. */

import { Badge, type BadgeProps, Text, type TextProps, Title, type TitleProps } from '@mantine/core';
import type { HTMLAttributes, ReactNode } from 'react';

type Attributes<Props> = Omit<HTMLAttributes<HTMLElement>, keyof Props | 'color'>;
type NoteProps = TextProps & Attributes<TextProps> & { readonly component?: 'div' | 'span' };

/** Quiet, and a little smaller than what it stands beside. */
export function Muted({ component = 'div', ...props }: NoteProps) {
  return <Text size="sm" c="dimmed" component={component} {...props} />;
}

/** Quiet and small: a remark. */
export function Remark(props: NoteProps) {
  return <Muted size="xs" {...props} />;
}

/** A word in a frame. */
export function Tag(props: BadgeProps & Attributes<BadgeProps>) {
  return <Badge variant="default" className="plain-badge" {...props} />;
}

/** Of a part of a page. */
export function Heading(props: Omit<TitleProps, 'order'> & { readonly children: ReactNode }) {
  return <Title order={3} size="h5" {...props} />;
}
