/** The path of a request through the rooms, as the map shows it: who does what, in which file. */

export interface PathStep {
  readonly room: string;
  /** In the room: where to read how it is done. */
  readonly file: string;
  readonly does: string;
}

export const requestPath: readonly PathStep[] = [
  { room: 'http', file: 'edge.ts', does: 'framing, route and method; every error becomes an answer here' },
  { room: 'admission', file: 'access.ts', does: 'whose key it is, and whether it may be used here' },
  { room: 'http', file: 'body.ts', does: 'the whole body, under limit and time, decoded' },
  { room: 'pipeline', file: 'question.ts', does: 'fields judged on the bytes; the model found in the snapshot' },
  { room: 'admission', file: 'spending.ts', does: 'limits and budgets taken: all of them, or none' },
  { room: 'ledger', file: 'journal.ts', does: 'the intent, written before anything is sent' },
  { room: 'families', file: 'openai.ts', does: 'path, headers and body of the call; the model patched in place' },
  { room: 'upstream', file: 'dispatcher.ts', does: 'one target after another, until an answer may pass' },
  { room: 'pipeline', file: 'answers/relay.ts', does: 'the answer, searched and counted as it passes' },
  { room: 'ledger', file: 'billing.ts', does: 'bill and row in the journal; then the last byte' },
  { room: 'telemetry', file: 'log.ts', does: 'one line, of what may be said' },
];
