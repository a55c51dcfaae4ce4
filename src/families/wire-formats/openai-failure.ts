/** Recognises an error that came with status 200, as services between us and a model send it, and the status that is meant. */

const errorObject = '{"error":{';
const statusInError = /"(?:code|status)"\s*:\s*"?([45]\d\d)\b/;
const [openBrace, quote, letterE] = Buffer.from(errorObject);
/** What is no error shows it in its first characters. */
const lookedAtBytes = 64;

/** Of `{"error":{"code":502,...}}` under a status of 200, the status that is meant. */
export function failureIn(beginning: Buffer, isWhole: boolean): number | 'unclear' | undefined {
  // Most answers show it in three bytes: `{"o` of "object", `{"i` of "id".
  const [first, second, third = letterE] = beginning;
  if (first === openBrace && second === quote && third !== letterE) return undefined;
  const start = beginning.toString('latin1', 0, lookedAtBytes).replaceAll(/\s/g, '');
  if (!start.startsWith(errorObject.slice(0, start.length))) return undefined;
  if (!isWhole) return 'unclear';
  if (start.length < errorObject.length) return undefined;
  return Number(statusInError.exec(beginning.toString('latin1'))?.[1] ?? 500);
}
