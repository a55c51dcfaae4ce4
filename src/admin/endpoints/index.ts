/** Every endpoint, in the order of the document. A new one stands here, and in the matrix of roles. */

import type { AnyEndpoint } from '../endpoint.ts';
import { getSession } from './session.ts';

export const endpoints: readonly AnyEndpoint[] = [getSession];
