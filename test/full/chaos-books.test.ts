/** What becomes of money and of the books under faults, in short. */

import { testPromises } from '../support/gateways/chaos-promises.ts';

testPromises(({ no }) => no <= 8);
