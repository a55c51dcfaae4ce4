/** Writes control characters and marks of text direction as escapes, so that no output can steer the terminal. */

/** Control characters, and those that change the direction of text or break lines. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Whatever a name holds, it moves no cursor, and looks like no other: each of these becomes its escape, such as `\u202e`. */
export const toPrintable = (text: string): string =>
  text.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
