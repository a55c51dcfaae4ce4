/** Exit codes: 0 success, 1 a user error reported in one line, 2 an internal error. */
export type ExitCode = 0 | 1 | 2;
