/** How the process ends. 0: fine. 1: the user's fault, said in one line. 2: ours. */
export type ExitCode = 0 | 1 | 2;
