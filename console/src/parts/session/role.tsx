/** Shows what the signed-in member's role permits, and a message where it is not enough. */

import { Box, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Role, roles } from '../../../../src/admin/contract.ts';
import { useMember } from '../api/session.ts';

export const roleWords: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything except secrets, captured bodies and the audit log.',
  editor: 'Changes models, tests them and their upstreams, and uses the playground.',
  admin:
    'Changes upstreams, credentials, keys, projects and settings as well; reads captured bodies and the audit log.',
  owner: 'May do everything, invites members and gives roles.',
};

export function useRole(): Role | undefined {
  return useMember()?.role;
}

export function useMay(role: Role): boolean {
  const own = useRole();
  return own !== undefined && roles.indexOf(own) >= roles.indexOf(role);
}

interface NeedsProps {
  readonly role: Role;
  readonly children: ReactNode;
  /** Whether to show nothing to members without the role. */
  readonly hide?: boolean;
}

/** Enables its children for members with the role; others see why they cannot use them. */
export function Needs({ role, children, hide = false }: NeedsProps) {
  const own = useRole();
  const may = useMay(role);
  if (may) return children;
  if (hide) return null;
  const why = `This takes the role ${role}; yours is ${own ?? 'none'}. An owner can give it to you.`;
  return (
    <Tooltip label={why} withinPortal multiline maw={280}>
      <Box component="fieldset" disabled className="not-allowed" aria-label={why}>
        {children}
      </Box>
    </Tooltip>
  );
}
