/** Shows a connection test: its steps, their results, and advice after a failure. */

import { Alert, Loader, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { UpstreamTest } from '../../../../src/admin/contract.ts';
import { Muted } from '../layout/text.tsx';
import { Icon, type IconName } from '../marks/icon.tsx';
import { formatDuration } from '../words/format.ts';

interface ConnectionTestProps {
  readonly isTesting: boolean;
  readonly result: UpstreamTest | undefined;
  /** Why the test has no result. */
  readonly fault: string | undefined;
}

type Step = UpstreamTest['steps'][number];

const stepWords: Readonly<Record<Step['name'], string>> = {
  'look-up': 'Look the name up',
  connect: 'Connect',
  secure: 'Agree on encryption',
  ask: 'Ask the service',
};

/** Shows the test; nothing before it was started. Screen readers read the result when it is there. */
export function ConnectionTest({ isTesting, result, fault }: ConnectionTestProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (result !== undefined) box.current?.scrollIntoView({ block: 'nearest' });
  }, [result]);
  return (
    <div ref={box} aria-live="polite" aria-busy={isTesting}>
      {isTesting && <Running />}
      {!isTesting && result !== undefined && <Result result={result} />}
      {!isTesting && fault !== undefined && result === undefined && (
        <Alert color="red" variant="light" icon={<Icon name="warning" />} title="It could not be tested">
          {fault}
        </Alert>
      )}
    </div>
  );
}

const names = ['look-up', 'connect', 'secure', 'ask'] as const satisfies readonly Step['name'][];

const Running = () => (
  <Stack gap="xs">
    <Text size="sm">Connecting from the gateway…</Text>
    <ol className="test-steps">
      {names.map((name) => (
        <li key={name} className="test-step">
          <Loader size={14} aria-hidden="true" />
          <Muted>{stepWords[name]}</Muted>
        </li>
      ))}
    </ol>
  </Stack>
);

const Result = ({
  result: { ok, steps, problem, models, credentials, address },
}: {
  readonly result: UpstreamTest;
}) => (
  <Stack gap="sm">
    <ol className="test-steps" aria-label="Steps of the test">
      {steps.map((step) => (
        <StepLine key={step.name} step={step} />
      ))}
    </ol>
    {ok ? (
      <Alert color="teal" variant="light" icon={<Icon name="check" />} title="The connection works">
        {address === null
          ? 'It answers inside the gateway; there is nothing to connect to.'
          : models === null
            ? 'The service answers, and takes the credential. It has no list of models.'
            : `The service answers, and lists ${models === 1 ? '1 model' : `${models} models`}.`}
      </Alert>
    ) : (
      <Alert color="red" variant="light" icon={<Icon name="warning" />} title={problem?.message ?? 'It failed'}>
        {problem?.advice}
      </Alert>
    )}
    {credentials.length > 1 && (
      <Text size="sm">
        {credentials.map(({ id, ok: isGood }) => `${id} ${isGood ? 'is good' : 'is refused'}`).join(', ')}.
      </Text>
    )}
  </Stack>
);

const looks: Readonly<Record<Step['state'], readonly [icon: IconName, tone: string, word: string]>> = {
  passed: ['check', 'tone-good', 'Passed'],
  failed: ['close', 'tone-bad', 'Failed'],
  skipped: ['minus', 'tone-quiet', 'Left out'],
};

function StepLine({ step: { name, state, ms, detail } }: { readonly step: Step }) {
  const [icon, tone, word] = looks[state];
  return (
    <li className="test-step">
      <span className={tone}>
        <Icon name={icon} size={16} />
        <VisuallyHidden>{word}:</VisuallyHidden>
      </span>
      <Text size="sm" className="breaks">
        {stepWords[name]}
        {detail !== '' && (
          <Text span c="dimmed" inherit>
            {' '}
            {detail}
          </Text>
        )}
      </Text>
      <Muted className="numeric">{ms === null ? '' : formatDuration(ms)}</Muted>
    </li>
  );
}
