/** Images: made from words, changed, or made like another; by one model, or by two side by side. */

import './images.css';
import { useState } from 'react';
import { CallSource } from '../call-source.tsx';
import { useOwnKey } from '../own-key.tsx';
import { PairResult } from '../pair-result.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { useKept } from '../use-kept.ts';
import { usePair } from '../use-pair.ts';
import {
  type Files,
  type ImagesForm,
  imageOperations,
  operationOf,
  sampleForm,
  toCall,
  whatIsMissing,
} from './form.ts';
import { Gallery } from './gallery.tsx';
import { ImagesFields } from './images-fields.tsx';

const toWanted = (route: string | undefined): Partial<ImagesForm> => {
  const operation = imageOperations.find((one) => one === route);
  return operation === undefined ? {} : { operation };
};

export default function ImagesTab({ wantedModel, wantedRoute }: TabProps) {
  const [form, put] = useKept<ImagesForm>('images', sampleForm, toWanted(wantedRoute));
  const [files, setFiles] = useState<Files>({ pictures: [], mask: [] });
  const key = useOwnKey();
  const pair = usePair();
  const call = toCall(form, files, form.model, key);
  const otherCall = form.other === '' ? undefined : toCall(form, files, form.other, key);
  const missing = whatIsMissing(form, files);
  return (
    <TabFrame
      answer={pair.first.answer}
      isWide={form.other !== ''}
      form={
        <CallForm onRun={() => pair.run(call, otherCall)} canRun={missing === undefined && !pair.isRunning}>
          <ImagesFields form={form} put={put} files={files} onFiles={setFiles} wantedModel={wantedModel} />
          <RunBar label="Make" isRunning={pair.isRunning} onStop={pair.stop} missing={missing} />
        </CallForm>
      }
      result={
        <PairResult
          pair={pair}
          call={call}
          nothingYet={<NothingYet icon="eye">The pictures stand here, to be looked at and saved.</NothingYet>}
          render={(answer) => <Gallery answer={answer} />}
        />
      }
      source={<CallSource operation={operationOf(form)} call={call} answer={pair.first.answer} />}
    />
  );
}
