/** Lets the user choose light or dark colours, or those of the system. */

import {
  ActionIcon,
  type MantineColorScheme,
  Menu,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { Icon, type IconName } from '../marks/icon.tsx';

interface Scheme {
  readonly value: MantineColorScheme;
  readonly label: string;
  readonly icon: IconName;
}

export const schemes: readonly Scheme[] = [
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
  { value: 'auto', label: 'As the system', icon: 'screen' },
];

export function ColourScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  return (
    <Menu position="bottom-end" offset={10} withinPortal>
      <Menu.Target>
        <Tooltip label="Colours">
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Colours">
            <Icon name={shown === 'dark' ? 'moon' : 'sun'} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Colours</Menu.Label>
        {schemes.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} size={16} />}
            rightSection={value === colorScheme ? <Icon name="check" size={16} /> : undefined}
            onClick={() => setColorScheme(value)}
            role="menuitemradio"
            aria-checked={value === colorScheme}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
