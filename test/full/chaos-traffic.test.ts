/** What becomes of streams, clients, operations and access under faults and attack, in short. */

import { testPromises } from '../support/gateways/chaos-promises.ts';

testPromises(({ no }) => no > 8);
