/** Shows the list settings of a model, and the results of its canaries and shadow. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ModelDetail } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { Heading } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { When } from '../../parts/words/numbers.tsx';

type Lists = ModelDetail['lists'];

export function ModelLists({ model: { id, lists } }: { readonly model: ModelDetail }) {
  const settings = wordsOf(lists);
  if (settings.length === 0 && lists.agreements.length + lists.canaries.length === 0) return null;
  return (
    <Stack gap="xs">
      <Heading>Lists</Heading>
      {settings.map((words) => (
        <Text key={words} size="sm">
          {words}
        </Text>
      ))}
      {lists.cache !== null && <Forget id={id} />}
      {lists.canaries.length > 0 && <Canaries id={id} canaries={lists.canaries} />}
      {lists.agreements.length > 0 && <Agreements agreements={lists.agreements} />}
    </Stack>
  );
}

function wordsOf({ cache, dedupe, coalesce, shadow, canary }: Lists): string[] {
  const words: string[] = [];
  if (cache !== null) {
    const scope = cache.scope === 'shared' ? 'for all keys' : 'for each project';
    words.push(`Items are remembered for ${cache.ttl}, ${scope}, ${cache.max} in each process.`);
  }
  if (dedupe && cache === null) words.push('Equal items are asked for once.');
  if (coalesce !== null)
    words.push(`Small lists go together within ${coalesce.window}, ${coalesce.maxItems} items at most.`);
  if (shadow !== null)
    words.push(`${Math.round(shadow.share * 1_000) / 10} % of its requests go to ${shadow.model} as well.`);
  if (canary !== null)
    words.push(
      `${canary.texts} fixed ${canary.texts === 1 ? 'text tells' : 'texts tell'} every ${canary.every} whether it has changed.`,
    );
  return words;
}

function Forget({ id }: { readonly id: string }) {
  const confirm = useConfirm();
  const forget = async (): Promise<void> => {
    const isSure = await confirm({
      title: `Forget what is remembered of ${id}?`,
      body: 'Every item is asked for again, and costs what it costs.',
      confirm: 'Forget',
    });
    if (!isSure) return;
    try {
      await ask('POST /api/models/:id/forget', { params: { id } });
      notifyDone('What was remembered is forgotten on every node.');
    } catch (error) {
      notifyFailed(error);
    }
  };
  return (
    <Needs role="editor">
      <Group>
        <Button variant="default" size="xs" onClick={() => void forget()}>
          Forget what is remembered
        </Button>
      </Group>
    </Needs>
  );
}

function Canaries({ id, canaries }: { readonly id: string; readonly canaries: Lists['canaries'] }) {
  const changed = canaries.filter(({ hasChanged }) => hasChanged);
  const accept = async (): Promise<void> => {
    try {
      await ask('POST /api/models/:id/accept', { params: { id } });
      notifyDone('What comes next is what it is held against.');
    } catch (error) {
      notifyFailed(error);
    }
  };
  return (
    <Stack gap="xs">
      {changed.length > 0 && (
        <Alert color="red" icon={<Icon name="warning" />} title="An upstream has changed this model">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              The same texts have other vectors now: what is written to an index from here on does not fit what is
              there.
            </Text>
            <Needs role="editor">
              <Button variant="default" size="xs" onClick={() => void accept()}>
                Take it as it is now
              </Button>
            </Needs>
          </Stack>
        </Alert>
      )}
      <DataTable
        aria-label="Canaries"
        stacks
        columns={[{ title: 'Target', className: 'breaks' }, 'As it was', 'Looked at']}
        rows={canaries.map(({ node, upstream, upstreamModel, agreement, checkedAt, failure }) => ({
          id: `${node} ${upstream} ${upstreamModel}`,
          cells: [
            `${upstream}: ${upstreamModel}`,
            failure ?? inFigures(agreement),
            checkedAt === null ? 'not yet' : <When key="at" at={checkedAt} />,
          ],
        }))}
      />
    </Stack>
  );
}

const Agreements = ({ agreements }: { readonly agreements: Lists['agreements'] }) => (
  <DataTable
    aria-label="Agreement with its shadow"
    stacks
    columns={[{ title: 'Shadow', className: 'breaks' }, 'Compared', 'Agreement']}
    rows={agreements.map((one) => ({
      id: `${one.node} ${one.shadow}`,
      cells: [
        one.shadow,
        one.failed === 0 ? one.compared : `${one.compared}, and ${one.failed} without an answer`,
        agreementInWords(one),
      ],
    }))}
  />
);

function agreementInWords({ cosine, overlap, ranks, verdicts }: Lists['agreements'][number]): string {
  const said = [
    cosine === null ? '' : `cosine ${inFigures(cosine)}`,
    overlap === null ? '' : `neighbours ${inFigures(overlap)}`,
    ranks === null ? '' : `order ${inFigures(ranks)}`,
    verdicts === null ? '' : `verdicts ${inFigures(verdicts)}`,
  ].filter((words) => words !== '');
  return said.length === 0 ? '–' : said.join(', ');
}

const inFigures = (value: number | null): string => (value === null ? '–' : value.toFixed(3));
