// Loads parts of a page that take longer than the page. Without this script, a link leads to the page with the part.
'use strict';

for (const section of document.querySelectorAll('[data-section]')) {
  const link = section.querySelector('a');
  section.setAttribute('aria-busy', 'true');
  fetch(section.dataset.section, { credentials: 'same-origin' })
    .then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status)))
    .then((text) => {
      const found = new DOMParser().parseFromString(text, 'text/html').querySelector('section');
      section.replaceWith(document.importNode(found, true));
      document.dispatchEvent(new Event('section'));
    })
    .catch(() => { section.removeAttribute('aria-busy'); link.textContent += ' (it could not be loaded)'; });
}
