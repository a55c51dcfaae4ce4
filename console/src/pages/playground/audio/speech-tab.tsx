/** Playground tab for speech: lets one model, or two to compare, read a text aloud. */

import './audio.css';
import type { Answer } from '../call.ts';
import { furtherFields } from '../fields.tsx';
import { type OperationSpec, OperationTab, type TabProps } from '../operation-tab.tsx';
import { Player } from './recording.tsx';

const spec: OperationSpec = {
  draft: 'speech',
  operations: ['speech'],
  isPair: true,
  examples: [
    {
      title: 'Read a sentence',
      values: { input: 'The postern is the small gate at the back of the castle.', instructions: '' },
    },
    {
      title: 'Read it in a manner',
      values: { input: 'Who goes there? Say the word, or stay outside.', instructions: 'Like a tired guard at night.' },
    },
  ],
  fields: [
    {
      name: 'input',
      kind: 'text',
      label: 'Text',
      rows: [4, 14],
      sentAs: 'input',
      needed: 'Write what shall be read first.',
    },
    {
      name: 'voice',
      kind: 'suggest',
      label: 'Voice',
      description: 'A name that the model knows',
      // OpenAI's voices; other services have others, and any name may be typed.
      choices: ['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
      initial: 'alloy',
      sentAs: 'voice',
      needed: 'Choose a voice first.',
    },
  ],
  options: [
    {
      name: 'format',
      kind: 'choice',
      label: 'response_format',
      description: 'mp3 where none is sent',
      choices: ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'],
    },
    {
      name: 'speed',
      kind: 'number',
      label: 'speed',
      description: '1 is as people talk',
      range: { min: 0.25, max: 4, step: 0.25 },
    },
    { name: 'instructions', kind: 'text', label: 'instructions', description: 'In which manner', rows: [1, 6] },
    furtherFields('{"language": "en"}'),
  ],
  runLabel: 'Read aloud',
  nothingYet: ['play', 'What is read stands here, to be heard and saved.'],
};

export default function SpeechTab(props: TabProps) {
  return <OperationTab {...props} spec={spec} render={(answer) => <Spoken answer={answer} />} />;
}

function Spoken({ answer: { sound, call } }: { readonly answer: Answer }) {
  if (sound === undefined) return 'The answer is no sound; it stands below.';
  return <Player sound={sound} label={`What ${call.model} read`} name={`speech.${toEnding(sound)}`} />;
}

const toEnding = ({ type }: Blob): string => type.slice('audio/'.length).replace(/^x-/, '').replace('mpeg', 'mp3');
