/** Where the identity provider leads back to after a proof: tells the page that asked for it, and goes away. */

import { Button } from '@mantine/core';
import { useEffect } from 'react';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { type ProofNews, proofChannel } from '../../parts/session/proof-channel.ts';
import { Entrance } from './entrance.tsx';
import { problemInLink } from './problem-in-link.ts';

export function Proved() {
  const problem = problemInLink();
  useEffect(() => {
    const channel = proofChannel();
    channel.postMessage({ problem } satisfies ProofNews);
    channel.close();
    if (problem === undefined) window.close();
  }, [problem]);
  const about = problem === undefined ? 'Close this window, and go on where you were.' : undefined;
  return (
    <Entrance title={problem === undefined ? 'It is you' : 'That was no proof'} about={about}>
      <FormFault fault={problem} />
      <Button component="a" href="/" variant="default">
        Go to the console
      </Button>
    </Entrance>
  );
}
