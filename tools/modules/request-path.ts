/**
 * The steps of a plain request: module, file and functions of each. They are shown in docs/explanations/architecture.md, and a test compares them
 * with the code. After changing the path, edit this list and run `npm run generate`.
 */

export interface PathStep {
  readonly module: string;
  /** Path of the file in the module. */
  readonly file: string;
  /** Functions, classes or private methods in the file. */
  readonly functions: readonly string[];
  readonly does: string;
  /** The methods of `direct/path.ts` that take this step; empty for steps before it. */
  readonly direct: readonly string[];
}

export const requestPath: readonly PathStep[] = [
  {
    module: 'http',
    file: 'edge.ts',
    functions: ['createEdge'],
    does: 'check framing, find route and method; answer every error',
    direct: [],
  },
  {
    module: 'keys',
    file: 'access.ts',
    functions: ['checkKey', 'checkRoute'],
    does: 'check the key',
    direct: ['begin', '#admitted'],
  },
  {
    module: 'http',
    file: 'body.ts',
    functions: ['BodyReading'],
    does: 'read and decode the whole body, within limits',
    direct: ['onWhole'],
  },
  {
    module: 'plan',
    file: 'question.ts',
    functions: ['compileQuestionReader'],
    does: 'validate fields in the bytes',
    direct: ['#ask'],
  },
  {
    module: 'plan',
    file: 'find-model.ts',
    functions: ['findModel'],
    does: 'find the model: exact name, alias, pattern',
    direct: ['#ask'],
  },
  {
    module: 'plan',
    file: 'route-plan.ts',
    functions: ['routePlanOf'],
    does: 'list the targets that can serve it',
    direct: ['#ask', '#count'],
  },
  {
    module: 'accounting',
    file: 'spending.ts',
    functions: ['createSpending'],
    does: 'reserve limits and budgets, all or none',
    direct: ['#reserve'],
  },
  {
    module: 'accounting',
    file: 'ledger.ts',
    functions: ['createLedger'],
    does: 'write the intent to the journal',
    direct: ['#reserved'],
  },
  {
    module: 'upstream',
    file: 'dispatcher.ts',
    functions: ['createDispatcher'],
    does: 'choose target and credential; take a slot',
    direct: ['#send'],
  },
  {
    module: 'plan',
    file: 'planned-call.ts',
    functions: ['writeCall'],
    does: 'write path, headers and body; replace the model name',
    direct: ['#toPlan', '#send'],
  },
  {
    module: 'answers',
    file: 'verdict.ts',
    functions: ['verdictOn'],
    does: 'judge the response: pass it, retry, or fail over',
    direct: ['onOutcome', '#relay'],
  },
  {
    module: 'answers',
    file: 'relay.ts',
    functions: ['Relay', 'observerOf'],
    does: 'stream it to the client; read usage on the way',
    direct: ['#answerAtOnce'],
  },
  {
    module: 'answers',
    file: 'settling.ts',
    functions: ['Settling'],
    does: 'bill, settle, write the row; then the last byte',
    direct: ['onWritten', '#answerWhole'],
  },
];
