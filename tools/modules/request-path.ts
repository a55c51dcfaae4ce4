/**
 * The steps of a plain request: module, file and functions of each. They are shown in docs/explanations/architecture.md, and a test compares them
 * with the code. After changing the path, edit this list and run `npm run generate`.
 */

export interface PathStep {
  readonly module: string;
  /** In the module. */
  readonly file: string;
  /** In that file: functions, classes or private methods. */
  readonly functions: readonly string[];
  readonly does: string;
}

export const requestPath: readonly PathStep[] = [
  {
    module: 'http',
    file: 'edge.ts',
    functions: ['createEdge'],
    does: 'check framing, find route and method; answer every error',
  },
  { module: 'keys', file: 'access.ts', functions: ['checkKey', 'checkRoute'], does: 'check the key' },
  {
    module: 'http',
    file: 'body.ts',
    functions: ['BodyReading'],
    does: 'read and decode the whole body, within limits',
  },
  {
    module: 'pipeline',
    file: 'question.ts',
    functions: ['compileQuestionReader'],
    does: 'validate fields in the bytes',
  },
  {
    module: 'pipeline',
    file: 'pipeline.ts',
    functions: ['findModel'],
    does: 'find the model: exact name, alias, pattern',
  },
  {
    module: 'pipeline',
    file: 'calls/plan.ts',
    functions: ['routePlanOf'],
    does: 'list the targets that can serve it',
  },
  {
    module: 'accounting',
    file: 'spending.ts',
    functions: ['createSpending'],
    does: 'reserve limits and budgets, all or none',
  },
  { module: 'accounting', file: 'ledger.ts', functions: ['createLedger'], does: 'write the intent to the journal' },
  {
    module: 'upstream',
    file: 'dispatcher.ts',
    functions: ['createDispatcher'],
    does: 'choose target and credential; take a slot',
  },
  {
    module: 'pipeline',
    file: 'calls/plan.ts',
    functions: ['writeCall'],
    does: 'write path, headers and body; replace the model name',
  },
  {
    module: 'pipeline',
    file: 'calls/verdict.ts',
    functions: ['verdictOn'],
    does: 'judge the response: pass it, retry, or fail over',
  },
  {
    module: 'pipeline',
    file: 'answers/relay.ts',
    functions: ['Relay', 'observerOf'],
    does: 'stream it to the client; read usage on the way',
  },
  {
    module: 'pipeline',
    file: 'usage/settling.ts',
    functions: ['Settling'],
    does: 'bill, settle, write the row; then the last byte',
  },
];
