/** The settings of the gateway that can be changed here, and how a change is sent. */

import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Setting } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

const queryKey = ['settings'];

export function useSettings() {
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask<{ items: readonly Setting[] }>('/api/settings', { signal }),
  });
}

/** Sends a whole setting in place of the one that was seen; an empty one goes back to the standard. */
export function useSettingWriter() {
  const queries = useQueryClient();
  return async ({ id, version }: Setting, document: Readonly<Record<string, unknown>>): Promise<void> => {
    const isEmpty = Object.keys(document).length === 0;
    const seen: Record<string, string> = version === 0 ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` };
    if (!isEmpty) await ask(`/api/settings/${id}`, { method: 'PUT', body: document, headers: seen });
    else if (version > 0) await ask(`/api/settings/${id}`, { method: 'DELETE', headers: seen });
    await queries.invalidateQueries({ queryKey });
  };
}
