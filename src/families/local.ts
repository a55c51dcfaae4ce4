/** Declares the family of local models, which answer inside this process: no network, no key, and equal output for equal requests. */

import { defineFamily } from '../core/family.ts';
import { rerankByBm25 } from './local/bm25.ts';
import { chatByEcho, completeByEcho, editByInstruction } from './local/echo.ts';
import { embedByHash } from './local/hash-embed.ts';
import { moderateByWordlist } from './local/wordlist.ts';
import { standardRerank } from './wire-formats/rerank/standard-rerank.ts';

export default defineFamily({
  id: 'local',
  title: 'Built in, no network',
  builtIn: [
    { id: 'local/hash-embed', operations: ['embeddings'] },
    { id: 'local/bm25', operations: ['rerank'] },
    { id: 'local/wordlist', operations: ['moderations'] },
    { id: 'local/echo', operations: ['completions', 'edits', 'chat'] },
  ],
  offers: {
    openai: {
      completions: { path: '/completions', make: completeByEcho },
      edits: { path: '/edits', make: editByInstruction },
      chat: { path: '/chat/completions', make: chatByEcho },
      rerank: {
        path: '/rerank',
        make: rerankByBm25,
        translation: standardRerank({ own: [], takesObjects: true }),
        scores: { scale: 'sigmoid' },
      },
      moderations: { path: '/moderations', make: moderateByWordlist },
      embeddings: { path: '/embeddings', make: embedByHash },
    },
  },
});
