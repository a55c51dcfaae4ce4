/** Rerank: a question, documents, and how they move into the order of their answers. */

import './rerank.css';
import { Stack, Textarea, TextInput, VisuallyHidden } from '@mantine/core';
import type { Answer, Call } from '../call.ts';
import { CallFacts } from '../call-facts.tsx';
import { CallFault } from '../call-fault.tsx';
import { CallSource } from '../call-source.tsx';
import { Examples } from '../examples.tsx';
import { ModelPair } from '../model-pair.tsx';
import { countSet, MoreOptions, NumberOption, toNumbers } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { StaleNote } from '../stale-note.tsx';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { parseTexts } from '../texts.ts';
import type { CallHandle } from '../use-call.ts';
import { type Put, useKept } from '../use-kept.ts';
import { usePair } from '../use-pair.ts';
import { blank, type RerankForm, rerankExamples } from './examples.ts';
import { RankLines } from './rank-lines.tsx';
import { RankedList } from './ranked-list.tsx';
import { type Ranking, toRanking, unranked } from './ranking.ts';

const sampleForm: RerankForm = { ...blank, ...rerankExamples[0]?.values };

export default function RerankTab({ wantedModel }: TabProps) {
  const [form, put] = useKept<RerankForm>('rerank', sampleForm);
  const key = useOwnKey();
  const { first, second, isRunning, run, stop } = usePair();
  const { items } = parseTexts(form.documents);
  const call = toCall(form, items, form.model, key);
  const otherCall = form.other === '' ? undefined : toCall(form, items, form.other, key);
  const missing = whatIsMissing(form, items.length);
  return (
    <TabFrame
      answer={first.answer}
      isWide={form.other !== ''}
      form={
        <CallForm onRun={() => run(call, otherCall)} canRun={missing === undefined && !isRunning}>
          <RerankFields form={form} put={put} count={items.length} wantedModel={wantedModel} />
          <RunBar label="Rerank" isRunning={isRunning} onStop={stop} missing={missing} />
        </CallForm>
      }
      result={<RerankResult first={first} second={second} items={items} call={call} />}
      source={<CallSource operation="rerank" call={call} answer={first.answer} />}
    />
  );
}

function toCall(form: RerankForm, documents: readonly unknown[], model: string, key: string | undefined): Call {
  const body = { model, query: form.query, documents, ...toNumbers({ top_n: form.topN }) };
  return { route: 'rerank', model, body, key };
}

function whatIsMissing({ model, query }: RerankForm, count: number): string | undefined {
  if (model === '') return 'Choose a model first.';
  if (query.trim() === '') return 'Write a question first.';
  return count === 0 ? 'Write some documents first.' : undefined;
}

interface RerankFieldsProps {
  readonly form: RerankForm;
  readonly put: Put<RerankForm>;
  readonly count: number;
  readonly wantedModel: string | undefined;
}

function RerankFields({ form, put, count, wantedModel }: RerankFieldsProps) {
  return (
    <Stack gap="sm">
      <Examples examples={rerankExamples} onPick={put} />
      <ModelPair operation="rerank" form={form} put={put} wanted={wantedModel} />
      <TextInput
        label="Question"
        value={form.query}
        onChange={(event) => put({ query: event.currentTarget.value })}
        autoComplete="off"
      />
      <Textarea
        label={`Documents (${count})`}
        description="One a line; blocks with an empty line between them; or a JSON array."
        value={form.documents}
        onChange={(event) => put({ documents: event.currentTarget.value })}
        autosize
        minRows={6}
        maxRows={16}
      />
      <MoreOptions set={countSet([form.topN])}>
        <NumberOption
          label="top_n"
          description="Only the best"
          value={form.topN}
          onChange={(topN) => put({ topN })}
          min={1}
        />
      </MoreOptions>
    </Stack>
  );
}

interface RerankResultProps {
  readonly first: CallHandle;
  readonly second: CallHandle;
  /** As they stand in the form. */
  readonly items: readonly unknown[];
  readonly call: Call;
}

function RerankResult({ first, second, items, call }: RerankResultProps) {
  const { answer, error } = first;
  const ranking = toRanking(answer);
  const other = toRanking(second.answer);
  const query = String(answer?.call.body.query ?? '');
  return (
    <Stack gap="sm" aria-busy={first.isRunning || second.isRunning}>
      {answer !== undefined && <CallFacts answer={answer} />}
      <CallFault answer={answer} error={error} />
      <StaleNote answer={answer} call={call} />
      <VisuallyHidden role="status">{announce(ranking)}</VisuallyHidden>
      {ranking !== undefined && other !== undefined ? (
        <RankLines left={ranking} right={other} titles={[modelOf(answer), modelOf(second.answer)]} query={query} />
      ) : (
        <OneRanking ranking={ranking ?? unranked(items)} query={query} />
      )}
      <CallFault answer={second.answer} error={second.error} />
    </Stack>
  );
}

function OneRanking({ ranking, query }: { readonly ranking: Ranking; readonly query: string }) {
  if (ranking.documents.length === 0) {
    return (
      <NothingYet icon="requests">Write a question and some documents; they move into their order here.</NothingYet>
    );
  }
  return (
    <RankedList
      ranking={ranking}
      query={query}
      label={ranking.isRanked ? 'Documents, the best first' : 'Documents as they will be sent'}
    />
  );
}

const modelOf = (answer: Answer | undefined): string => answer?.call.model ?? '';

function announce(ranking: Ranking | undefined): string {
  if (ranking === undefined) return '';
  return `Ranked ${ranking.documents.length} documents. First: ${ranking.documents[0]?.text ?? ''}`;
}
