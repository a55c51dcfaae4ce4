/** Shows the Set-up page, which leads from a new gateway to the first call and its ledger row in five steps. */

import {
  Anchor,
  Box,
  Button,
  Code,
  Group,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  ThemeIcon,
  Title,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import {
  bodyOf,
  canBeShown,
  hasModelInPath,
  type KeyWithSecret,
  operationRows,
  operationsAsOffered,
  type PlaygroundModel,
} from '../../../../src/admin/contract.ts';
import { ask, send } from '../../parts/api/client.ts';
import { useMember } from '../../parts/api/session.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { useTry } from '../../parts/explorer/ledger-data.ts';
import { ofSecrets, useUnsaved } from '../../parts/forms/draft.ts';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Failed, Loading, toMessage } from '../../parts/layout/state.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { mostOptions, PickModels } from '../../parts/models/pick-models.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { CopyButton, Snippet } from '../../parts/snippets/copy.tsx';
import { toSnippets } from '../../parts/snippets/snippets.ts';
import { formatCount, formatDuration } from '../../parts/words/format.ts';
import { Money } from '../../parts/words/numbers.tsx';
import { requestWords } from '../../parts/words/operations.ts';
import { FirstUpstream } from './first-upstream.tsx';

/** Time until the gateway uses a new configuration. */
const settlingMs = 700;

export default function SetUp() {
  return (
    <>
      <PageHead title="Set-up" about="From a new gateway to the first call and its row in the ledger." />
      <Needs role="admin">
        <Steps />
      </Needs>
    </>
  );
}

type Step = 'upstream' | 'models' | 'key' | 'call';
const order: readonly Step[] = ['upstream', 'models', 'key', 'call'];

function Steps() {
  const member = useMember();
  const upstreams = useQuery({
    queryKey: ['upstreams', 'names'],
    queryFn: async ({ signal }) => (await ask('GET /api/upstreams', { query: { limit: 200 }, signal })).items,
  });
  const [upstream, setUpstream] = useState<string>();
  const [added, setAdded] = useState<readonly string[]>([]);
  const [made, setMade] = useState<KeyWithSecret>();
  const [copied, setCopied] = useState<KeyWithSecret>();
  const onCopied = (): void => setCopied(made);
  const isUnsaved = made !== undefined && copied !== made;
  useUnsaved(isUnsaved, ofSecrets);
  const confirm = useConfirm();
  const [isCalled, setCalled] = useState(false);
  /** The step that a click has opened; undefined: the first step that is not done is open. */
  const [opened, setOpened] = useState<Step>();
  const [passed, setPassed] = useState<readonly Step[]>([]);
  const models = useQuery({
    queryKey: ['playground', 'models', 'all'],
    queryFn: ({ signal }) => ask('GET /api/playground/models', { signal }),
    refetchInterval: ({ state }) =>
      added.every((id) => state.data?.items.some((model) => model.id === id)) ? false : settlingMs,
  });
  if (upstreams.data === undefined || models.data === undefined) {
    const { error, refetch } = upstreams.error === null ? models : upstreams;
    return error === null ? (
      <Loading rows={5} rowHeight={64} />
    ) : (
      <Failed error={error} onRetry={() => void refetch()} />
    );
  }
  const { clientUrl } = models.data;
  const usable = models.data.items.filter(({ id, visible }) => visible && !id.includes('*'));
  const inside = usable.filter(({ builtIn }) => builtIn);
  const own = usable.filter(({ builtIn }) => !builtIn);
  const others = upstreams.data.filter(({ address }) => address !== null).map(({ id }) => id);
  const chosenUpstream = upstream ?? others[0];
  const isDone: Readonly<Record<Step, boolean>> = {
    upstream: chosenUpstream !== undefined || passed.includes('upstream'),
    models: added.length > 0 || own.length > 0 || passed.includes('models'),
    key: made !== undefined,
    call: isCalled,
  };
  const current = opened ?? order.find((step) => !isDone[step]) ?? 'call';
  const go = (step: Step) => ({ isDone: isDone[step], isOpen: current === step, onOpen: () => setOpened(step) });
  const makeAnother = async (): Promise<void> => {
    if (!isUnsaved || (await confirm({ ...ofSecrets, confirm: 'Make another', danger: true }))) setOpened('key');
  };
  const passBoth = (): void => {
    setPassed(['upstream', 'models']);
    setOpened(undefined);
  };
  const goInside =
    inside.length === 0 ? undefined : (
      <Button variant="default" onClick={passBoth}>
        Continue with the built-in models
      </Button>
    );
  return (
    <Stack gap="sm" maw={860}>
      <StepBox
        number={1}
        title="Your account"
        isDone
        summary={member === undefined ? '' : `${member.name}, ${member.role}`}
      />
      <StepBox
        number={2}
        title="An upstream"
        summary={chosenUpstream ?? 'The models that answer inside the gateway'}
        again="Add another"
        {...go('upstream')}
      >
        <FirstUpstream
          taken={upstreams.data.map(({ id }) => id)}
          onAdded={(id) => {
            void upstreams.refetch();
            setUpstream(id);
            setOpened('models');
          }}
        >
          {goInside}
        </FirstUpstream>
      </StepBox>
      <StepBox
        number={3}
        title="Models"
        summary={namesOf(own.length > 0 ? own.map(({ id }) => id) : inside.map(({ id }) => id))}
        again="Add more"
        {...go('models')}
      >
        {chosenUpstream === undefined ? (
          <Muted>Add an upstream first.</Muted>
        ) : (
          <PickModels
            key={chosenUpstream}
            upstream={chosenUpstream}
            onAdded={(ids) => {
              setAdded(ids);
              setOpened(undefined);
            }}
          />
        )}
      </StepBox>
      <StepBox
        number={4}
        title="A key"
        summary={made === undefined ? '' : <Secret made={made} onCopied={onCopied} />}
        again="Make another"
        {...go('key')}
        onOpen={() => void makeAnother()}
      >
        <FirstKey
          onMade={(key) => {
            setMade(key);
            setOpened(undefined);
          }}
        />
      </StepBox>
      <StepBox number={5} title="The first call" {...go('call')} isOpen={current === 'call' && made !== undefined}>
        {made !== undefined && (
          <FirstCall
            models={own.length > 0 ? own : usable}
            wanted={added[0]}
            secret={made.secret}
            clientUrl={clientUrl}
            onCalled={() => setCalled(true)}
            onCopied={onCopied}
          />
        )}
      </StepBox>
    </Stack>
  );
}

const mostNames = 3;
const namesOf = (ids: readonly string[]): string =>
  ids.length > mostNames ? `${ids.slice(0, mostNames).join(', ')} and ${ids.length - mostNames} more` : ids.join(', ');

interface StepBoxProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly isOpen?: boolean;
  readonly summary?: ReactNode;
  /** The label of the button that opens a finished step again. */
  readonly again?: string;
  onOpen?(): void;
  readonly children?: ReactNode;
}

const StepBox = ({ number, title, isDone, isOpen = false, summary = '', again, onOpen, children }: StepBoxProps) => (
  <Paper withBorder p="md" component="section" aria-label={title} aria-current={isOpen ? 'step' : undefined}>
    <Group wrap="nowrap" align="flex-start" gap="sm">
      <ThemeIcon
        radius="xl"
        size={28}
        variant={isDone ? 'filled' : 'default'}
        role="img"
        aria-label={isDone ? 'Done' : `Step ${number}`}
      >
        {isDone ? <Icon name="check" size={16} /> : <Text size="sm">{number}</Text>}
      </ThemeIcon>
      <Box miw={0} flex={1}>
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h5" lh="28px">
            {title}
          </Title>
          {isDone && !isOpen && again !== undefined && (
            <Button variant="default" size="compact-sm" onClick={onOpen}>
              {again}
            </Button>
          )}
        </Group>
        {isDone && summary !== '' && <Muted className="breaks">{summary}</Muted>}
        {isOpen && <Box mt="sm">{children}</Box>}
      </Box>
    </Group>
  </Paper>
);

interface SecretProps {
  readonly made: KeyWithSecret;
  onCopied(): void;
}

const Secret = ({ made: { document, secret }, onCopied }: SecretProps) => (
  <Stack gap={4} onCopy={onCopied}>
    <span>{document.name}: its secret is shown only now. Put it where your other secrets are.</span>
    <Group gap="xs" wrap="nowrap">
      <Code className="breaks">{secret}</Code>
      <Box onClickCapture={onCopied}>
        <CopyButton text={secret} label="Copy the secret" />
      </Box>
    </Group>
  </Stack>
);

function FirstKey({ onMade }: { onMade(made: KeyWithSecret): void }) {
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { name: 'First key', budget: '' },
    submit: ({ name, budget }) =>
      ask('POST /api/keys', {
        body: {
          name,
          models: ['*'],
          ...(budget.trim() !== '' && { budgets: [{ every: 'day', amount: budget.trim() }] }),
        },
      }),
    onDone: onMade,
    toField: (path) => (path.startsWith('budgets') ? 'budget' : path),
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        <FormFault fault={fault} />
        <Muted>What a client calls with. The first start printed one as well; this one is for this page.</Muted>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
          <TextInput
            label="Most it may spend in a day"
            placeholder="No limit"
            leftSection="$"
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps('budget')}
          />
        </SimpleGrid>
        <Group justify="flex-end">
          <Button type="submit" loading={busy}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FirstCallProps {
  readonly models: readonly PlaygroundModel[];
  readonly wanted: string | undefined;
  readonly secret: string;
  readonly clientUrl: string;
  onCalled(): void;
  onCopied(): void;
}

/** Makes a call as clients do, with the new key, and shows below how to make it elsewhere. */
function FirstCall({ models, wanted, secret, clientUrl, onCalled, onCopied }: FirstCallProps) {
  const calls = models.flatMap(({ id, operations }) =>
    operationsAsOffered
      .filter((operation) => operations.includes(operation) && canBeShown(operation))
      .map((operation) => ({ value: `${operation} ${id}`, label: `${id}: ${requestWords[operation]}`, id, operation })),
  );
  const [picked, setPicked] = useState<string | null>(null);
  const call = calls.find(({ value }) => value === picked) ?? calls.find(({ id }) => id === wanted) ?? calls[0];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async ({ id, operation }: NonNullable<typeof call>) => {
      const startedMs = performance.now();
      const response = await send('POST /api/playground/:route', {
        params: { route: operation },
        query: { model: hasModelInPath(operationRows[operation]) ? id : undefined },
        body: bodyOf(operation, id, operationRows[operation].trial),
        headers: { 'x-postern-key': secret },
        accepts: ({ headers }) => headers.get('x-postern-answer') === 'gateway',
      });
      const text = await response.text();
      const requestId = response.headers.get('x-request-id') ?? undefined;
      return { status: response.status, ok: response.ok, text, requestId, ms: performance.now() - startedMs };
    },
    onSuccess: ({ ok }) => ok && onCalled(),
  });
  if (call === undefined) return <Muted>No model can be seen by clients yet.</Muted>;
  const [curl] = toSnippets({ baseUrl: clientUrl, secret, model: call.id, operation: call.operation });
  return (
    <Stack gap="sm">
      <Group align="flex-end">
        <Select
          label="What to call"
          data={calls}
          value={call.value}
          onChange={setPicked}
          allowDeselect={false}
          searchable={calls.length > 8}
          limit={mostOptions}
          flex={1}
          miw={220}
        />
        <Button onClick={() => mutate(call)} loading={isPending}>
          Send it
        </Button>
      </Group>
      <FormFault fault={error === null ? undefined : toMessage(error)} />
      <div aria-live="polite">{data !== undefined && <Called answer={data} />}</div>
      {curl !== undefined && (
        <>
          <Text size="sm" fw={500}>
            The same from elsewhere
          </Text>
          <Box
            onCopy={onCopied}
            onClickCapture={({ target }) =>
              target instanceof Element && target.closest('button') !== null && onCopied()
            }
          >
            <Snippet code={curl.code} language="curl" label="Copy the curl command" />
          </Box>
        </>
      )}
    </Stack>
  );
}

interface CalledProps {
  readonly answer: {
    readonly status: number;
    readonly ok: boolean;
    readonly text: string;
    readonly requestId: string | undefined;
    readonly ms: number;
  };
}

const longestShown = 600;

function Called({ answer: { status, ok, text, requestId, ms } }: CalledProps) {
  const row = useTry(requestId);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <StatusBadge state={ok ? 'ok' : 'error'} label={`${status}`} />
        <Text size="sm" className="numeric">
          {formatDuration(ms)}
        </Text>
      </Group>
      <Code block tabIndex={0} aria-label="The answer">
        {text.length > longestShown ? `${text.slice(0, longestShown)}…` : text}
      </Code>
      {row === null ? (
        <Muted role="status">Its row in the ledger comes in a moment.</Muted>
      ) : (
        <>
          <DataTable
            withTableBorder
            isNamed
            aria-label="Its row in the ledger"
            columns={['Field', 'Value']}
            rows={[
              ['Upstream', row.upstream ?? 'None'],
              ['Duration', formatDuration(row.durationMs)],
              ['Input tokens', row.inputTokens === null ? '' : formatCount(row.inputTokens)],
              ['Output tokens', row.outputTokens === null ? '' : formatCount(row.outputTokens)],
              ['Cost', row.cost === null ? 'Unknown' : <Money key="cost" dollars={row.cost} />],
            ].map(([name, value]) => ({ id: String(name), cells: [name, value] }))}
          />
          <Group gap="md">
            <Anchor component={Link} href={`/explorer?id=${encodeURIComponent(row.id)}`} size="sm">
              All of the row in the Explorer
            </Anchor>
            <Anchor component={Link} href="/" size="sm">
              Go to the Overview
            </Anchor>
            <Anchor component={Link} href="/playground" size="sm">
              Try the models in the Playground
            </Anchor>
          </Group>
        </>
      )}
    </Stack>
  );
}
