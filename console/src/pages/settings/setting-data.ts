/** The settings of the gateway that can be changed here, and how a change is sent. */

import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Setting } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

const queryKey = ['settings'];

export function useSettings() {
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask('GET /api/settings', { signal }),
  });
}

/** Sends a whole setting in place of the one that was seen; an empty one goes back to the standard. */
export function useSettingWriter() {
  const queries = useQueryClient();
  return async ({ id, version }: Setting, document: Readonly<Record<string, unknown>>): Promise<void> => {
    const isEmpty = Object.keys(document).length === 0;
    const seen: Record<string, string> = version === 0 ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` };
    if (!isEmpty) await ask('PUT /api/settings/:id', { params: { id }, body: document, headers: seen });
    else if (version > 0) await ask('DELETE /api/settings/:id', { params: { id }, headers: seen });
    await queries.invalidateQueries({ queryKey });
  };
}
