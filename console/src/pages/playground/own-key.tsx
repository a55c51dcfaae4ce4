/** With which key the page calls: the playground's own, or one that is typed here and kept nowhere. */

import { Button, Group, PasswordInput, Popover, Stack, Text } from '@mantine/core';
import { createContext, useContext } from 'react';
import { Icon } from '../../parts/marks/icon.tsx';

/** Undefined: the playground's own key. In memory only, so that a reload forgets it. */
export const OwnKey = createContext<string | undefined>(undefined);

export const useOwnKey = (): string | undefined => useContext(OwnKey);

interface KeyChoiceProps {
  readonly value: string;
  onChange(value: string): void;
}

export function KeyChoice({ value, onChange }: KeyChoiceProps) {
  return (
    <Popover width={340} position="bottom-end" trapFocus withinPortal>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="keys" size={16} />}>
          {value === '' ? "Key: the playground's own" : 'Key: your own'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm">
          <Text size="sm">
            Calls go through the gateway like any client's: they count against limits and budgets, and stand in the
            ledger. The playground has a key of its own; it is listed with the other keys, where it can be capped.
          </Text>
          <PasswordInput
            label="Use another key"
            description="To see what its owner sees. It is forgotten with this page."
            placeholder="pst_…"
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.currentTarget.value.trim())}
          />
          <Group justify="flex-end">
            <Button variant="default" size="xs" disabled={value === ''} onClick={() => onChange('')}>
              Use the playground's own
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
