/** Sets one price for several models in a dialog: list price, free, unknown, or an amount per unit. */

import { Button, Group, Modal, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Model } from '../../../../src/admin/contract.ts';
import { Muted } from '../../parts/layout/text.tsx';
import { saveModel } from '../../parts/models/pick-models.tsx';
import { type PriceUnit, unitsOf, unitWords } from '../../parts/words/prices.ts';
import { readModel } from './model-data.ts';

type Written = Readonly<Record<string, string>> | 'free' | 'unknown' | undefined;

interface BulkPriceProps {
  readonly models: readonly Model[];
  onClose(): void;
  onSet(price: Written): void;
}

const kinds = [
  { value: 'list', label: 'As lists have it' },
  { value: 'amounts', label: 'Set here' },
  { value: 'free', label: 'Free' },
  { value: 'unknown', label: 'Unknown: count requests without a cost' },
];

export function BulkPrice({ models, onClose, onSet }: BulkPriceProps) {
  const [kind, setKind] = useState('amounts');
  const [amounts, setAmounts] = useState<Readonly<Partial<Record<PriceUnit, string>>>>({});
  const units = unitsOf(models.flatMap(({ operations }) => operations));
  const given = Object.entries(amounts).filter(([, amount]) => amount.trim() !== '');
  const written = (): Written => {
    if (kind === 'amounts') return Object.fromEntries(given);
    return kind === 'free' || kind === 'unknown' ? kind : undefined;
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={`The price of ${models.length === 1 ? models[0]?.id : `${models.length} models`}`}
    >
      <Stack>
        <Select
          label="Price"
          data={kinds}
          value={kind}
          onChange={(next) => setKind(next ?? kind)}
          allowDeselect={false}
        />
        {kind === 'amounts' && (
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
            {units.map((unit) => (
              <TextInput
                key={unit}
                label={unitWords[unit]}
                leftSection={<Text size="sm">$</Text>}
                inputMode="decimal"
                autoComplete="off"
                value={amounts[unit] ?? ''}
                onChange={({ currentTarget }) => setAmounts({ ...amounts, [unit]: currentTarget.value })}
              />
            ))}
          </SimpleGrid>
        )}
        <Muted>
          It replaces the price of each model. A price that is set at a target stays, and holds for that target.
        </Muted>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={kind === 'amounts' && given.length === 0} onClick={() => onSet(written())}>
            Set the price
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Reads the model and saves its price; the write is refused if someone else changes the model in between. */
export async function setPrice({ id }: Model, price: Written): Promise<unknown> {
  const { data, etag } = await readModel(id);
  const { price: _, ...rest } = data.document;
  return saveModel({ ...rest, id, ...(price !== undefined && { price }) }, etag);
}
