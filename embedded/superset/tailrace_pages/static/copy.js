// Buttons that copy a whole id, the checkbox that selects all rows, and reasons.
// Everything works without this script: ids are text, and each row has its own checkbox.
'use strict';

for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'copied';
  });
}

for (const all of document.querySelectorAll('input.all')) {
  const boxes = all.closest('table').querySelectorAll('tbody input[type="checkbox"]');
  all.hidden = false;
  all.addEventListener('change', () => boxes.forEach((box) => { box.checked = all.checked; }));
}

for (const button of document.querySelectorAll('fieldset.actions button')) {
  // The server refuses these actions without a reason or a verdict; its answer would lose the selected rows.
  const needs = (button.dataset.needs || '').split(' ');
  const fields = button.closest('fieldset').querySelectorAll('[name="reason"], [name="verdict"]');
  button.addEventListener('click', () => fields.forEach((field) => { field.required = needs.includes(field.name); }));
}
