/** The parameters that most people leave alone, folded away. */

import { NumberInput, Select, SimpleGrid, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useId } from 'react';
import { Icon } from '../../parts/marks/icon.tsx';

interface MoreOptionsProps {
  /** How many of them are set. */
  readonly set: number;
  readonly children: ReactNode;
}

export function MoreOptions({ set, children }: MoreOptionsProps) {
  const [opened, { toggle }] = useDisclosure(false);
  const id = useId();
  return (
    <div>
      <UnstyledButton className="play-fold" aria-expanded={opened} aria-controls={id} onClick={toggle}>
        <span className="play-fold-mark" data-opened={opened || undefined}>
          <Icon name="chevron" size={14} />
        </span>
        Options{set > 0 ? ` (${set} set)` : ''}
      </UnstyledButton>
      <div id={id} hidden={!opened}>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" pt="xs">
          {children}
        </SimpleGrid>
      </div>
    </div>
  );
}

interface NumberOptionProps {
  readonly label: string;
  readonly description?: string;
  /** Empty: it is not sent. */
  readonly value: string;
  onChange(value: string): void;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

export function NumberOption({ label, description, value, onChange, min, max, step }: NumberOptionProps) {
  return (
    <NumberInput
      label={label}
      {...(description === undefined ? {} : { description })}
      placeholder="not sent"
      value={value}
      onChange={(next) => onChange(String(next))}
      {...(min === undefined ? {} : { min })}
      {...(max === undefined ? {} : { max })}
      {...(step === undefined ? {} : { step })}
    />
  );
}

interface ChoiceOptionProps {
  readonly label: string;
  readonly description: string;
  readonly choices: readonly (string | { readonly value: string; readonly label: string })[];
  /** Empty: it is not sent. */
  readonly value: string;
  onChange(value: string): void;
}

export function ChoiceOption({ label, description, choices, value, onChange }: ChoiceOptionProps) {
  return (
    <Select
      label={label}
      description={description}
      placeholder="not sent"
      data={[...choices]}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '')}
      clearable
      clearButtonProps={{ 'aria-label': `Send no ${label}` }}
    />
  );
}

/** Only what was filled in goes along. */
export function toNumbers(values: Readonly<Record<string, string>>): Record<string, number> {
  const set = Object.entries(values).filter(([, text]) => text !== '' && Number.isFinite(Number(text)));
  return Object.fromEntries(set.map(([name, text]) => [name, Number(text)]));
}

export const countSet = (values: readonly (string | boolean)[]): number =>
  values.filter((value) => value !== '' && value !== false).length;
