/** Defines an error that the user has to fix: its message is one sentence, and a command ends with exit code 1. */
export class UserFault extends Error {
  override readonly name: string = 'UserFault';
}

/** Exit codes: 0 success, 1 a user error reported in one line, 2 an internal error. */
export type ExitCode = 0 | 1 | 2;
