/** Where a project is declared, and whether the gateways go by it already. */

import { Group } from '@mantine/core';
import type { Project } from '../../../../src/admin/contract.ts';
import { ManagedBy } from '../../parts/marks/managed-by.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';

export function ProjectPlace({ project: { managedBy, place, inForce } }: { readonly project: Project }) {
  if (managedBy === 'store' && inForce) return null;
  return (
    <Group gap={6}>
      <ManagedBy by={managedBy === 'store' ? 'store' : 'file'} place={place} />
      {!inForce && <StatusBadge state="pending" label="In force in a moment" />}
    </Group>
  );
}
