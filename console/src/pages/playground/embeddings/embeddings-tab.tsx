/** Embeddings: texts, how alike they are, and where they stand; two models side by side. On the legacy path as well. */

import './embeddings.css';
import { Select, Stack, Textarea } from '@mantine/core';
import type { Call } from '../call.ts';
import { CallSource } from '../call-source.tsx';
import { Examples } from '../examples.tsx';
import { ModelPair } from '../model-pair.tsx';
import { countSet, MoreOptions, NumberOption, toNumbers } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { parseTexts } from '../texts.ts';
import { type Put, useKept } from '../use-kept.ts';
import { usePair } from '../use-pair.ts';
import { EmbeddingsResult } from './embeddings-result.tsx';
import { type EmbeddingsForm, embeddingsExamples, sampleForm } from './examples.ts';

type EmbeddingsRoute = 'embeddings' | 'engines-embeddings';

export const EmbeddingsTab = (props: TabProps) => <Embeddings {...props} route="embeddings" />;
export const LegacyEmbeddingsTab = (props: TabProps) => <Embeddings {...props} route="engines-embeddings" />;

function Embeddings({ wantedModel, route }: TabProps & { readonly route: EmbeddingsRoute }) {
  const [form, put] = useKept<EmbeddingsForm>(route, sampleForm);
  const key = useOwnKey();
  const { first, second, isRunning, run, stop } = usePair();
  const { items } = parseTexts(form.texts);
  const call = toCall(route, form, items, form.model, key);
  const otherCall = form.other === '' ? undefined : toCall(route, form, items, form.other, key);
  const missing = whatIsMissing(form, items.length);
  return (
    <TabFrame
      answer={first.answer}
      isWide={form.other !== ''}
      form={
        <CallForm onRun={() => run(call, otherCall)} canRun={missing === undefined && !isRunning}>
          <EmbeddingsFields form={form} put={put} count={items.length} wantedModel={wantedModel} />
          <RunBar label="Embed and compare" isRunning={isRunning} onStop={stop} missing={missing} />
        </CallForm>
      }
      result={<EmbeddingsResult first={first} second={second} call={call} />}
      source={<CallSource operation="embeddings" call={call} answer={first.answer} />}
    />
  );
}

function toCall(
  route: EmbeddingsRoute,
  form: EmbeddingsForm,
  input: readonly unknown[],
  model: string,
  key: string | undefined,
): Call {
  const rest = {
    input,
    ...toNumbers({ dimensions: form.dimensions }),
    ...(form.encoding === '' ? {} : { encoding_format: form.encoding }),
  };
  return { route, model, body: route === 'embeddings' ? { model, ...rest } : rest, key };
}

function whatIsMissing({ model }: EmbeddingsForm, count: number): string | undefined {
  if (model === '') return 'Choose a model first.';
  return count === 0 ? 'Write some texts first.' : undefined;
}

const encodings = [
  { value: 'float', label: 'float: numbers' },
  { value: 'base64', label: 'base64: fewer bytes' },
];

interface EmbeddingsFieldsProps {
  readonly form: EmbeddingsForm;
  readonly put: Put<EmbeddingsForm>;
  readonly count: number;
  readonly wantedModel: string | undefined;
}

function EmbeddingsFields({ form, put, count, wantedModel }: EmbeddingsFieldsProps) {
  return (
    <Stack gap="sm">
      <Examples examples={embeddingsExamples} onPick={put} />
      <ModelPair operation="embeddings" form={form} put={put} wanted={wantedModel} />
      <Textarea
        label={`Texts (${count})`}
        description="One a line; blocks with an empty line between them; or a JSON array."
        value={form.texts}
        onChange={(event) => put({ texts: event.currentTarget.value })}
        autosize
        minRows={6}
        maxRows={16}
      />
      <MoreOptions set={countSet([form.dimensions, form.encoding])}>
        <NumberOption
          label="dimensions"
          description="Shorter vectors, where the model can"
          value={form.dimensions}
          onChange={(dimensions) => put({ dimensions })}
          min={1}
        />
        <Select
          label="encoding_format"
          description="How the numbers travel"
          placeholder="not sent"
          data={encodings}
          value={form.encoding === '' ? null : form.encoding}
          onChange={(encoding) => put({ encoding: encoding ?? '' })}
          clearable
          clearButtonProps={{ 'aria-label': 'Send no encoding_format' }}
        />
      </MoreOptions>
    </Stack>
  );
}
