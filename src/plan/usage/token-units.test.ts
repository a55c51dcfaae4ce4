import assert from 'node:assert/strict';
import { test } from 'node:test';
import { googleUnitsIn, unitsIn } from './token-units.ts';

test('audio and image tokens are counted separately, without cached ones', () => {
  const usage = {
    prompt_tokens_details: {
      audio_tokens: 30,
      image_tokens: 5,
      cached_tokens: 12,
      cached_tokens_details: { audio_tokens: 10 },
    },
    completion_tokens_details: { audio_tokens: 7, reasoning_tokens: 2, text_tokens: 4 },
  };
  const units = { audioInputTokens: 20, imageInputTokens: 5, audioOutputTokens: 7, reasoningTokens: 2 };
  assert.deepEqual(unitsIn(usage), units);
});

test('one-hour cache writes are counted separately', () => {
  const life = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 40 };
  assert.deepEqual(unitsIn({ input_tokens: 1, cache_creation: life }), { cacheWriteHourTokens: 40 });
});

test('reads the token details of transcriptions and images, which have other field names', () => {
  assert.deepEqual(unitsIn({ input_token_details: { audio_tokens: 9, text_tokens: 1 } }), { audioInputTokens: 9 });
  assert.deepEqual(
    unitsIn({ input_tokens_details: { image_tokens: 3 }, output_tokens_details: { image_tokens: 8, text_tokens: 2 } }),
    { imageInputTokens: 3, imageOutputTokens: 8 },
  );
});

test('token details that are zero, text only or invalid add no units', () => {
  assert.equal(unitsIn({ prompt_tokens: 5, total_tokens: 5 }), undefined);
  assert.equal(unitsIn({ prompt_tokens_details: null, completion_tokens_details: { audio_tokens: 0 } }), undefined);
  assert.equal(unitsIn({ prompt_tokens_details: { audio_tokens: -3, image_tokens: '5' } }), undefined);
  assert.equal(
    googleUnitsIn({ promptTokenCount: 5, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }] }),
    undefined,
  );
});

test("reads Google's counts by modality, of prompt and tool results", () => {
  const usage = {
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 4 },
      { modality: 'AUDIO', tokenCount: 50 },
    ],
    toolUsePromptTokensDetails: [{ modality: 'IMAGE', tokenCount: 6 }],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    thoughtsTokenCount: 11,
  };
  assert.deepEqual(googleUnitsIn(usage), {
    audioInputTokens: 30,
    imageInputTokens: 6,
    imageOutputTokens: 1_290,
    reasoningTokens: 11,
  });
});
