/** `npm run docs:site [FOLDER]`: builds the docs site, into `dist-docs` by default, for any static file server. */

import { buildSite } from './site/build.ts';

const [target = 'dist-docs'] = process.argv.slice(2);
console.log(`${buildSite('.', target)} pages in ${target}`);
