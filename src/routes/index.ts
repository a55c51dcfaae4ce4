/** Every client route; only the app imports this. */

import type { Route } from '../core/route.ts';
import chat from './chat.ts';
import completions from './completions.ts';
import countTokens from './count-tokens.ts';
import edits from './edits.ts';
import embeddings from './embeddings.ts';
import enginesCompletions from './engines-completions.ts';
import enginesEdits from './engines-edits.ts';
import enginesEmbeddings from './engines-embeddings.ts';
import images from './images.ts';
import messages from './messages.ts';
import moderations from './moderations.ts';
import rerank from './rerank.ts';
import speech from './speech.ts';

export const routes: readonly Route[] = [
  completions,
  edits,
  rerank,
  moderations,
  embeddings,
  chat,
  images,
  speech,
  messages,
  countTokens,
  enginesEmbeddings,
  enginesCompletions,
  enginesEdits,
];
