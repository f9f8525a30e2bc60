// Buttons that copy a whole id, times in the viewer's time zone, and the checkbox that selects all rows.
// Everything works without this script: ids and times are text, and each row has its own checkbox.
'use strict';

for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'copied';
  });
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const own = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
for (const time of document.querySelectorAll('time[datetime]')) {
  time.title = `${own.format(new Date(time.dateTime))} ${zone}`;
}

for (const all of document.querySelectorAll('input.all')) {
  const boxes = all.closest('table').querySelectorAll('tbody input[type="checkbox"]');
  all.hidden = false;
  all.addEventListener('change', () => boxes.forEach((box) => { box.checked = all.checked; }));
}
