/** Why a call came to nothing, and what to do next. */

import { Alert, Anchor, Code, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { toMessage } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { type Answer, wasSignedOut } from './call.ts';
import { Caution } from './caution.tsx';
import { adviceFor } from './fault-words.ts';

interface CallFaultProps {
  readonly answer: Answer | undefined;
  readonly error: unknown;
}

export function CallFault({ answer, error }: CallFaultProps) {
  return (
    <div role="alert">{error === undefined ? <AnswerFault answer={answer} /> : <ConsoleFault error={error} />}</div>
  );
}

function ConsoleFault({ error }: { readonly error: unknown }) {
  const text = wasSignedOut(error) ? 'Sign in again; what you typed is still here.' : toMessage(error);
  return (
    <Alert variant="light" color="red" title="The call was not made" icon={<Icon name="warning" />}>
      {text}
    </Alert>
  );
}

function AnswerFault({ answer }: { readonly answer: Answer | undefined }) {
  if (answer?.ending === 'cut') {
    return (
      <Caution title="The answer broke off">
        What came until then is shown. The upstream ended the connection before the answer was whole; a client sees the
        same.
      </Caution>
    );
  }
  if (answer?.ending !== 'refused' || answer.fault === undefined) return null;
  const { fault, status } = answer;
  const advice = adviceFor(answer);
  return (
    <Alert variant="light" color="red" title={`Refused with ${status}`} icon={<Icon name="warning" />}>
      <Stack gap={6}>
        <Text size="sm" className="play-wrap">
          {fault.message}
        </Text>
        {fault.code !== undefined && (
          <Text size="xs">
            Code <Code>{fault.code}</Code>
          </Text>
        )}
        {advice !== undefined && (
          <Text size="sm">
            {advice.text}{' '}
            {advice.link !== undefined && (
              <Anchor component={Link} href={advice.link.href} inherit underline="always">
                {advice.link.title}
              </Anchor>
            )}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
