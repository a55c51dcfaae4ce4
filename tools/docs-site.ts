/** `npm run docs:site [FOLDER]`: the site of the docs, into `dist-docs` where no folder is named. Any server of files serves it. */

import { buildSite } from './site/build.ts';

const [target = 'dist-docs'] = process.argv.slice(2);
console.log(`${buildSite('.', target)} pages in ${target}`);
