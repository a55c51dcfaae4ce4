/** The model that is asked, and one beside it that may be asked the same. */

import { useCallback } from 'react';
import { ModelChoice } from './model-choice.tsx';
import type { Operation } from './models.ts';

interface ModelPairProps {
  readonly operation: Operation;
  readonly form: { readonly model: string; readonly other: string };
  put(change: { readonly model: string } | { readonly other: string }): void;
  readonly wanted: string | undefined;
}

export function ModelPair({ operation, form, put, wanted }: ModelPairProps) {
  const setModel = useCallback((model: string) => put({ model }), [put]);
  const setOther = useCallback((other: string) => put({ other }), [put]);
  return (
    <>
      <ModelChoice key={operation} operation={operation} value={form.model} onChange={setModel} wanted={wanted} />
      <ModelChoice operation={operation} label="Compare with" value={form.other} onChange={setOther} optional />
    </>
  );
}
