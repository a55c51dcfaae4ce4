/** The grammar of chunk extensions: `;name`, `;name=value` and `;name="value"`, repeated. */

import { inToken, inValue, semicolon, space, tab } from './characters.ts';

/** What was read last. Blanks may stand behind a semicolon and around an equals sign, as RFC 9112 has it. */
export type ExtensionPart =
  | 'semicolon'
  | 'name'
  | 'blank behind the name'
  | 'equals sign'
  | 'value'
  | 'quoted value'
  | 'backslash'
  | 'closing quote'
  | 'blank behind the value';

const equals = 0x3d;
const quote = 0x22;
const backslash = 0x5c;

/** Behind these the line may end. */
export function mayEndBehind(part: ExtensionPart): boolean {
  return part === 'name' || part === 'value' || part === 'closing quote';
}

/** What `code` is behind `part`; undefined where it may not stand there. */
export function nextPart(part: ExtensionPart, code: number): ExtensionPart | undefined {
  const isBlank = code === space || code === tab;
  switch (part) {
    case 'semicolon':
      return isBlank ? 'semicolon' : inToken[code] === 1 ? 'name' : undefined;
    case 'name':
      return inToken[code] === 1 ? 'name' : isBlank ? 'blank behind the name' : behindName(code);
    case 'blank behind the name':
      return isBlank ? part : behindName(code);
    case 'equals sign':
      if (code === quote) return 'quoted value';
      return isBlank ? 'equals sign' : inToken[code] === 1 ? 'value' : undefined;
    case 'value':
      return inToken[code] === 1 ? 'value' : behindValue(code);
    case 'quoted value':
      if (code === quote) return 'closing quote';
      if (code === backslash) return 'backslash';
      return inValue[code] === 1 ? 'quoted value' : undefined;
    case 'backslash':
      return inValue[code] === 1 ? 'quoted value' : undefined;
    case 'closing quote':
    case 'blank behind the value':
      return behindValue(code);
  }
}

function behindName(code: number): ExtensionPart | undefined {
  return code === equals ? 'equals sign' : code === semicolon ? 'semicolon' : undefined;
}

function behindValue(code: number): ExtensionPart | undefined {
  if (code === semicolon) return 'semicolon';
  return code === space || code === tab ? 'blank behind the value' : undefined;
}
