/** Texts and marks used on every page. */

import { Badge, type BadgeProps, Text, type TextProps, Title, type TitleProps } from '@mantine/core';
import { Fragment, type HTMLAttributes, type ReactNode } from 'react';

type Attributes<Props> = Omit<HTMLAttributes<HTMLElement>, keyof Props | 'color'>;
type NoteProps = TextProps & Attributes<TextProps> & { readonly component?: 'div' | 'span' };

/** A dimmed text, a little smaller than the text beside it. */
export const Muted = ({ component = 'div', ...props }: NoteProps) => (
  <Text size="sm" c="dimmed" component={component} {...props} />
);

export const Remark = (props: NoteProps) => <Muted size="xs" {...props} />;

/** A word in a frame; an element around it, such as a tooltip, may add a class. */
export const Tag = ({ className = '', ...props }: BadgeProps & Attributes<BadgeProps>) => (
  <Badge variant="default" className={`plain-badge ${className}`} {...props} />
);

/** An address, or a name of several parts, which breaks only between its parts. */
export const InParts = ({ text }: { readonly text: string }) =>
  text.split(/(?=[@./])/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other, and stay in their order
    <Fragment key={at}>
      <wbr />
      {part}
    </Fragment>
  ));

export const Heading = (props: Omit<TitleProps, 'order'> & { readonly children: ReactNode }) => (
  <Title order={3} size="h5" {...props} />
);
