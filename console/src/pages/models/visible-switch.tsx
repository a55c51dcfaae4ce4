/** Whether clients see a model: a switch, or where it is decided otherwise. */

import { Box, Switch, Tooltip } from '@mantine/core';
import type { Model } from '../../../../src/admin/contract.ts';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { useMay } from '../../parts/session/role.tsx';
import { hiddenInWords } from './model-words.ts';

interface VisibleSwitchProps {
  readonly model: Model;
  readonly pending: boolean;
  onChange(id: string, visible: boolean): void;
}

export function VisibleSwitch({ model, pending, onChange }: VisibleSwitchProps) {
  const may = useMay('editor');
  const why = whyFixed(model, may);
  const meaning = model.visible ? 'Clients see it in their list of models.' : hiddenInWords(model);
  if (why !== undefined) {
    return <StatusBadge state={model.visible ? 'visible' : 'hidden'} why={`${meaning} ${why}`} />;
  }
  return (
    <Tooltip label={meaning} withinPortal multiline maw={300} openDelay={500}>
      <Box display="inline-block">
        <Switch
          checked={model.visible}
          onChange={({ currentTarget }) => onChange(model.id, currentTarget.checked)}
          aria-label={`Show ${model.id} to clients`}
          aria-busy={pending}
        />
      </Box>
    </Tooltip>
  );
}

function whyFixed({ managedBy, place }: Model, may: boolean): string | undefined {
  if (managedBy === 'file') {
    const where = place === null ? 'the configuration file' : `${place.file}, line ${place.line}`;
    return `It is declared in ${where}: write "visible" there.`;
  }
  if (managedBy === 'embedded') return 'It comes with Postern: write a postern.yaml to have it otherwise.';
  return may ? undefined : 'To show and hide models takes the role editor.';
}
