import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { openSecretBox } from './secret-box.ts';

const key = hash('sha256', 'sk-salt-of-a-test', 'buffer');

/** Encrypted by PyNaCl. */
const boxes: readonly (readonly [text: string, box: string])[] = [
  ['', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXBB3qmLaXCWN7zjytj7EsfQ=='],
  ['cohere/rerank-v3.5', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXC0gp6dMN8oC0sPX6-JeWwraZU4e79voQ_94Xy2wcnop-rA=='],
  [
    'x'.repeat(200),
    'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXdxcSAKRljIsr3qjiGDhP_62OQ5qx660a4tQO3X9JkMEo4QprK3MuG6rVvmK0Co_fhgWH8-O85ZkSvO5ASkl0u1eRgcN-6_5uAzAD2jGuAQV2t_PUOeeoizlJjb-1dTyW_9xZYLstfKoFPPG65yxQnX56-7_VAONTCY4QJz3kRvFey4YGA9THC1u-QIBZEUwMz69iVHfI_1Jfc0uZ90Yh_kPi4YrJGWi9qf8n9mPHGxoI9llE9O97MfctLY5j8Zpy90MzGg--TmooihflNLCyuVWIlL_KVA_7',
  ],
];

test('opens NaCl boxes of zero, one and several blocks', () => {
  for (const [text, box] of boxes) assert.equal(openSecretBox(Buffer.from(box, 'base64url'), key)?.toString(), text);
});

test('refuses another key, a changed byte and a truncated box', () => {
  const box = Buffer.from(boxes[1]?.[1] ?? '', 'base64url');
  assert.equal(openSecretBox(box, hash('sha256', 'another', 'buffer')), undefined);
  for (let at = 0; at < box.length; at += 1) {
    const changed = Buffer.from(box);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(openSecretBox(changed, key), undefined, `byte ${at}`);
    assert.equal(openSecretBox(box.subarray(0, at), key), undefined, `${at} bytes`);
  }
});
