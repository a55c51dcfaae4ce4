/** Explains why a call failed, and what to do next. */

import { Alert, Anchor, Code, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Notice, toMessage } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { type Answer, wasSignedOut } from './call.ts';

export const CallFault = ({ answer, error }: { readonly answer: Answer | undefined; readonly error: unknown }) => (
  <div role="alert">{error === undefined ? <AnswerFault answer={answer} /> : <ConsoleFault error={error} />}</div>
);

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
      <Notice className="play-caution" title="The answer broke off">
        What came until then is shown. The upstream ended the connection before the answer was whole; a client sees the
        same.
      </Notice>
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

interface Advice {
  readonly text: string;
  /** A page of the console where the cause can be fixed. */
  readonly link?: { readonly href: string; readonly title: string };
}

const keys = { href: '/keys', title: 'Open the keys' };
const models = { href: '/models', title: 'Open the models' };
const upstreams = { href: '/upstreams', title: 'Open the upstreams' };

const byCode: Readonly<Record<string, Advice>> = {
  model_not_found: {
    text: 'Clients cannot see this model: its name is unknown, or it is hidden and this route serves visible models only.',
    link: models,
  },
  operation_not_supported: {
    text: 'Choose a model that serves this route, or give this one a target that does.',
    link: models,
  },
  model_not_allowed: {
    text: 'The key that was used may not use this model. Widen its models, or use another key.',
    link: keys,
  },
  route_not_allowed: {
    text: 'The key that was used may not use this route. Widen its routes, or use another key.',
    link: keys,
  },
  ip_not_allowed: {
    text: 'The key is tied to other addresses; the playground calls from this machine. Use another key.',
    link: keys,
  },
  missing_api_key: { text: 'Give a key above, or take it away to use that of the playground.' },
  invalid_api_key: {
    text: 'The gateway does not know this key. Paste it again as it was shown, or use that of the playground.',
  },
  expired_api_key: { text: 'The key has reached its end. Give it more time, or use another one.', link: keys },
  revoked_api_key: { text: 'The key was revoked for good. Use another one.', link: keys },
  rate_limit_exceeded: {
    text: 'A limit of the key, project or model is used up for the moment. Wait, or raise it.',
    link: keys,
  },
  budget_exceeded: {
    text: 'The money set aside for this key or project is spent. Raise the budget to go on.',
    link: keys,
  },
  upstream_unreachable: {
    text: 'No connection to the upstream came about. Look at its address and its health.',
    link: upstreams,
  },
  upstream_protocol_error: {
    text: 'The upstream answered with something that is no answer. Look at its address and family.',
    link: upstreams,
  },
  upstream_timeout: {
    text: 'The upstream took longer than it is given. Try again, or give it more time.',
    link: upstreams,
  },
  no_upstream_available: {
    text: 'Every target is in cooldown after failures, or busy. Wait a moment and try again.',
    link: upstreams,
  },
  body_too_large: { text: 'Send fewer or shorter texts, or raise server.body_limit.' },
  overloaded: { text: 'The gateway is busy with other requests. Try again in a moment.' },
};

/** The advice for an error; undefined if its message says everything. */
function adviceFor({ fault, status }: Pick<Answer, 'fault' | 'status'>): Advice | undefined {
  const advice = fault?.code === undefined ? undefined : byCode[fault.code];
  if (advice !== undefined) return advice;
  if (fault?.param !== undefined) return { text: `Look at "${fault.param}" in what was sent.` };
  if (status === 401 || status === 403) {
    return { text: 'The upstream refused the credential that the gateway has for it.', link: upstreams };
  }
  if (status >= 500)
    return { text: 'The upstream failed. Its health tells whether it does so for everyone.', link: upstreams };
  return undefined;
}
