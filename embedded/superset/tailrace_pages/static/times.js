// Times in the viewer's time zone: as the tooltip of each time and, after a click on "UTC", in the columns of tables.
// Without this script all times are UTC. Other texts, addresses and CSV files always have UTC.

const KEY = 'tailrace-local-times';
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const own = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
// Swedish local times have the form of the server's: 2026-11-24 14:10:05.
const sortable = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
const button = document.querySelector('button.zone');

/** Returns the columns "(UTC)" or "(local)" that consist of times, with their cells. An hour, such as "14:00 to 15:00", is no time. */
function columnsOfTimes() {
  return [...document.querySelectorAll('table.rows thead th')]
    .filter((header) => /\((UTC|local)\)/.test(header.textContent))
    .map((header) => ({ header, cells: [...header.closest('table').tBodies[0].rows].map((row) => row.cells[header.cellIndex]) }))
    .filter(({ cells }) => cells.some((cell) => cell.querySelector('time')))
    .filter(({ cells }) => cells.every((cell) => cell.querySelector('time') || cell.textContent.trim() === 'unknown'));
}

function show(isLocal) {
  for (const time of document.querySelectorAll('time[datetime]')) {
    time.title = `${own.format(new Date(time.dateTime))} ${zone}`;
  }
  const columns = columnsOfTimes();
  for (const { header, cells } of columns) {
    header.textContent = header.textContent.replace(/\((UTC|local)\)/, isLocal ? '(local)' : '(UTC)');
    for (const time of cells.map((cell) => cell.querySelector('time')).filter(Boolean)) {
      time.textContent = isLocal ? sortable.format(new Date(time.dateTime)) : time.dateTime.replace('T', ' ').replace('Z', '');
    }
  }
  if (button) {
    button.hidden = columns.length === 0 || zone === 'UTC';
    button.textContent = isLocal ? 'Local times' : 'UTC';
    button.title = isLocal ? `Times of tables are in ${zone}. A click shows UTC` : `A click shows times of tables in ${zone}`;
    button.setAttribute('aria-pressed', isLocal);
  }
}

const isLocal = () => localStorage.getItem(KEY) === 'yes' && zone !== 'UTC';
show(isLocal());
document.addEventListener('section', () => show(isLocal()));
button?.addEventListener('click', () => {
  localStorage.setItem(KEY, isLocal() ? 'no' : 'yes');
  show(isLocal());
});
