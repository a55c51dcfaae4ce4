/** Questions and documents to begin with. */

import type { Example } from '../examples.tsx';

export interface RerankForm {
  model: string;
  other: string;
  query: string;
  documents: string;
  topN: string;
}

export const blank: RerankForm = { model: '', other: '', query: '', documents: '', topN: '' };

export const rerankExamples: readonly Example<RerankForm>[] = [
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
];
