/** Playground tab for rerank: takes a query and documents, and shows their ranking. */

import './rerank.css';
import { readList } from '../call.ts';
import { severalTexts } from '../fields.tsx';
import { type OperationSpec, OperationTab, type Result, type TabProps } from '../operation-tab.tsx';
import { CallResult } from '../result.tsx';
import { RankedList, RankLines } from './ranked-list.tsx';
import { toRanking, unranked } from './ranking.ts';

const spec: OperationSpec = {
  draft: 'rerank',
  operations: ['rerank'],
  isPair: true,
  examples: [
    {
      title: 'Find the right answer among ten',
      values: {
        query: 'How do I reset my password?',
        documents: [
          'Our offices are open from nine to five on working days.',
          'Invoices are sent by e-mail on the first day of each month.',
          'A password has at least twelve characters, and is never sent by e-mail.',
          'You can pay by card, by bank transfer or by invoice.',
          'To reset your password, choose "Forgot password" on the sign-in page and follow the link that we send you.',
          'Delete your account in the settings; this cannot be undone.',
          'We keep backups for thirty days in two places.',
          'If the link to reset a password does not arrive, look into the spam folder or ask us.',
          'The mobile app works with Android 12 and newer.',
          'Two-step sign-in asks for a code from your phone beside the password.',
        ].join('\n'),
        topN: '',
      },
    },
    {
      title: 'Only the best three',
      values: {
        query: 'small gate in a castle wall',
        documents: [
          'A moat is a ditch filled with water around a castle.',
          'The keep is the strongest tower, and the last refuge.',
          'A postern is a small gate in the wall of a castle, often hidden.',
          'The drawbridge can be raised before the main gate.',
          'Battlements let defenders shoot from behind a wall.',
          'Through the small gate at the back, people could leave unseen.',
        ].join('\n'),
        topN: '3',
      },
    },
    {
      title: 'Longer passages',
      values: {
        query: 'Which vitamin helps the body take up iron?',
        documents: [
          'Iron carries oxygen in the blood.\nToo little of it makes people tired and pale.',
          'Vitamin C helps the body take up iron from plants:\na glass of orange juice with a meal is enough.',
          'Calcium builds bones and teeth.\nMilk and green vegetables hold much of it.',
          'Coffee and tea slow down how the body takes up iron when they are drunk with a meal.',
        ].join('\n\n'),
        topN: '',
      },
    },
  ],
  fields: [
    { name: 'query', kind: 'line', label: 'Question', sentAs: 'query', needed: 'Write a question first.' },
    {
      name: 'documents',
      kind: 'texts',
      label: 'Documents (#)',
      description: severalTexts,
      rows: [6, 16],
      sentAs: 'documents',
      needed: 'Write some documents first.',
    },
  ],
  options: [{ name: 'topN', kind: 'number', label: 'top_n', description: 'Only the best', range: { min: 1 } }],
  runLabel: 'Rerank',
  nothingYet: ['requests', 'Write a question and some documents; they move into their order here.'],
};

export default function RerankTab(props: TabProps) {
  return <OperationTab {...props} spec={spec} result={(result) => <RerankResult {...result} />} />;
}

function RerankResult({ nothingYet, ...result }: Result) {
  const { pair, call } = result;
  const [{ answer }, { answer: otherAnswer }] = [pair.first, pair.second];
  const [ranking, other] = [toRanking(answer), toRanking(otherAnswer)];
  const query = String(answer?.call.body.query ?? '');
  // In the order of the form until there is an answer.
  const shown = ranking ?? unranked(readList(call.body, 'documents'));
  const first = ranking?.documents[0];
  return (
    <CallResult
      {...result}
      nothingYet={null}
      announced={first === undefined ? '' : `Ranked ${shown.documents.length} documents. First: ${first.text}`}
    >
      {ranking !== undefined && other !== undefined ? (
        <RankLines
          left={ranking}
          right={other}
          titles={[answer?.call.model ?? '', otherAnswer?.call.model ?? '']}
          query={query}
        />
      ) : shown.documents.length === 0 ? (
        nothingYet
      ) : (
        <RankedList
          ranking={shown}
          query={query}
          label={shown.isRanked ? 'Documents, the best first' : 'Documents as they will be sent'}
        />
      )}
    </CallResult>
  );
}
