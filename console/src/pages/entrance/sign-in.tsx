/** Shows the sign-in page, including the first owner's set-up. */

import { Button, Code, Divider, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Session } from '../../../../src/admin/contract.ts';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { type ProofNews, proofChannel } from '../../parts/session/proof-channel.ts';
import { ProviderButton, SignInForm } from '../../parts/session/sign-in-form.tsx';
import { Entrance } from './entrance.tsx';
import { problemInLink } from './link-token.ts';

export function SignIn({ session }: { readonly session: Session }) {
  const [problem] = useState(problemInLink);
  if (session.needsSetUp) return <NeedsSetUp provider={session.signIn.oidc} problem={problem} />;
  return (
    <Entrance title="Sign in">
      <FormFault fault={problem} />
      <SignInForm ways={session.signIn} />
    </Entrance>
  );
}

interface NeedsSetUpProps {
  readonly provider: Session['signIn']['oidc'];
  readonly problem: ReturnType<typeof problemInLink>;
}

const NeedsSetUp = ({ provider, problem }: NeedsSetUpProps) => (
  <Entrance title="Nobody has been set up yet" about="The person who started this gateway can make the first owner.">
    <FormFault fault={problem} />
    {provider?.makesFirstOwner === true && (
      <>
        <Text size="sm">Members of a group of owners sign in with the identity provider.</Text>
        <ProviderButton title={provider.title} />
        <Divider label="or" />
      </>
    )}
    <Text size="sm">
      Each start makes a link that works once. A terminal shows it; the file <Code>setup-link</Code>, whose path the
      start prints, has it everywhere. It looks like this:
    </Text>
    <Code block>{`${location.origin}/setup#token=…`}</Code>
    <Muted>
      The link is gone? <Code>postern members setup-link</Code> makes a new one.
    </Muted>
  </Entrance>
);

/** The page to which the identity provider redirects after re-authentication: notifies the page that asked for it, and closes. */
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
