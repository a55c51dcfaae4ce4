/** The page for signing in, and what stands there before anybody can. */

import { Code, Text } from '@mantine/core';
import { useState } from 'react';
import type { Session } from '../../../../src/admin/contract.ts';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { SignInForm } from '../../parts/session/sign-in-form.tsx';
import { Entrance } from './entrance.tsx';
import { problemInLink } from './problem-in-link.ts';

export function SignIn({ session }: { readonly session: Session }) {
  const [problem] = useState(problemInLink);
  if (session.needsSetUp) return <NeedsSetUp />;
  return (
    <Entrance title="Sign in">
      <FormFault fault={problem} />
      <SignInForm ways={session.signIn} />
    </Entrance>
  );
}

function NeedsSetUp() {
  return (
    <Entrance title="Nobody has been set up yet" about="Whoever started this gateway can make the first owner.">
      <Text size="sm">
        Each start makes a link that works once. A terminal shows it; the file <Code>setup-link</Code>, whose path the
        start prints, has it everywhere. It looks like this:
      </Text>
      <Code block>{`${location.origin}/setup#token=…`}</Code>
      <Text size="sm" c="dimmed">
        The link is gone? <Code>postern members setup-link</Code> makes a new one.
      </Text>
    </Entrance>
  );
}
