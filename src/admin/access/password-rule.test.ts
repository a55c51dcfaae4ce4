import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOfPassword } from './passwords.ts';

const email = 'ada.lovelace@example.com';

test('accepts passwords of a few words, of random text and in other scripts', () => {
  const good = [
    'lantern moss gate',
    'xK3!vq9Lm2#p',
    'Postern bewacht das kleine Tor',
    'пароль для ворот',
    'ada and the analytical engine',
    '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧',
    'a'.repeat(100) + 'b'.repeat(100),
  ];
  for (const password of good) assert.equal(faultOfPassword(password, email), undefined, password);
});

test('a password that is too short or too long is refused with its length in characters', () => {
  assert.match(faultOfPassword('elevenchars', email) ?? '', /at least 12/);
  assert.match(faultOfPassword('🦊'.repeat(6), email) ?? '', /at least 12/);
  assert.match(faultOfPassword('lantern moss gate'.repeat(12), email) ?? '', /at most 200/);
});

test("refuses the member's address, runs of characters and common passwords, with advice", () => {
  const rows: readonly [string, RegExp][] = [
    [email, /e-mail/],
    ['Ada.Lovelace@Example.com', /e-mail/],
    ['ada.lovelace123', /e-mail/],
    ['aaaaaaaaaaaa', /Do not repeat/],
    ['ababababababab', /Do not repeat/],
    ['123456789012', /sequence/],
    ['9876543210987', /sequence/],
    ['abcdefghijklmn', /sequence/],
    ['password1234', /guessed/],
    ['Passwort2026!', /guessed/],
    ['passwordpassword', /guessed/],
    ['P@ssw0rd2026!', /guessed/],
    ['correcthorsebatterystaple', /guessed/],
    ['qwertyuiop12', /guessed/],
    ['postern-postern', /guessed/],
  ];
  for (const [password, expected] of rows)
    assert.match(faultOfPassword(password, email) ?? 'nothing', expected, password);
});
