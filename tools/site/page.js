// What a page of the site does in the browser: the search, and its results.

import { find } from './search.js';

const field = document.querySelector('#question');
const list = document.querySelector('#found');
const home = document.documentElement.dataset.home;
let sections;

field.addEventListener('focus', load, { once: true });
field.addEventListener('input', show);
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') list.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.value = '';
    show();
  } else if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});

async function load() {
  sections ??= fetch(`${home}search.json`).then((answer) => answer.json());
  return sections;
}

async function show() {
  const question = field.value;
  const found = find(await load(), question);
  // An answer to what is no longer asked is thrown away.
  if (question !== field.value) return;
  const items = found.map(({ section, excerpt }) => {
    const link = document.createElement('a');
    link.href = `${home}${section.page}#${section.anchor}`;
    link.textContent = section.heading === section.title ? section.title : `${section.title}: ${section.heading}`;
    const words = document.createElement('p');
    words.textContent = excerpt;
    const item = document.createElement('li');
    item.append(link, words);
    return item;
  });
  if (items.length === 0 && question.trim() !== '') {
    const item = document.createElement('li');
    item.textContent = 'Nothing has all of these words.';
    items.push(item);
  }
  list.replaceChildren(...items);
}
