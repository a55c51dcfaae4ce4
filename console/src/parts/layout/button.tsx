/** Buttons with an icon. */

import { ActionIcon, type ActionIconProps, Button, type ButtonProps } from '@mantine/core';
import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from '../marks/icon.tsx';

type Attributes<Props> = Omit<ButtonHTMLAttributes<HTMLButtonElement>, keyof Props | 'color'>;

interface ActionProps extends ButtonProps, Attributes<ButtonProps> {
  readonly icon: IconName;
  readonly label: string;
}

const iconSizes: Readonly<Record<string, number>> = { xs: 14, 'compact-sm': 14, 'compact-xs': 12 };

export function Action({ icon, label, size = 'sm', variant = 'default', ...props }: ActionProps) {
  const leftSection = <Icon name={icon} size={iconSizes[String(size)] ?? 16} />;
  return (
    <Button variant={variant} size={size} leftSection={leftSection} {...props}>
      {label}
    </Button>
  );
}

interface IconButtonProps extends ActionIconProps, Attributes<ActionIconProps> {
  readonly icon: IconName;
  /** The label for screen readers. */
  readonly label: string;
}

export const IconButton = ({ icon, label, ...props }: IconButtonProps) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} {...props}>
    <Icon name={icon} size={16} />
  </ActionIcon>
);
