/** Asks the member to re-authenticate when an action needs it, on top of any dialog, then repeats the request. */

import { lazy, Suspense, useEffect, useState } from 'react';
import { whenProofNeeded } from '../api/client.ts';

const ProofDialog = lazy(() => import('./proof-dialog.tsx'));

type Answer = (proved: boolean) => void;

export function Proof() {
  const [answers, setAnswers] = useState<readonly Answer[]>([]);
  useEffect(() => {
    whenProofNeeded(() => new Promise((resolve) => setAnswers((waiting) => [...waiting, resolve])));
    return () => whenProofNeeded(async () => false);
  }, []);
  if (answers.length === 0) return null;
  const answerAll = (proved: boolean): void => {
    setAnswers([]);
    for (const answer of answers) answer(proved);
  };
  return (
    <Suspense fallback={null}>
      <ProofDialog onAnswer={answerAll} />
    </Suspense>
  );
}
