/** An error that the user has to fix, in one sentence: ends a command with exit code 1. */
export class UserFault extends Error {
  override readonly name: string = 'UserFault';
}
