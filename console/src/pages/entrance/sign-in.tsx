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
        Its first start printed a link that works once. It is among the first lines where you started it, and looks like
        this:
      </Text>
      <Code block>{`${location.origin}/setup#token=…`}</Code>
      <Text size="sm" c="dimmed">
        The link is gone? Start the gateway again: while there is no owner, it prints a new one.
      </Text>
    </Entrance>
  );
}
