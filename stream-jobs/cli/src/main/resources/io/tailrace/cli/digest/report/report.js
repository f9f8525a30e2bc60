(() => {
  const table = document.getElementById('profile');
  const body = table.tBodies[0];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  for (const head of table.tHead.rows[0].cells) {
    head.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') !== 'descending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a, head.cellIndex);
        const y = value(b, head.cellIndex);
        const order = typeof x === 'number' ? x - y : x.localeCompare(y);
        return down ? -order : order;
      });
      body.append(...rows);
    });
  }
  const search = document.getElementById('search');
  search.addEventListener('input', () => {
    const wanted = search.value.toLowerCase();
    for (const part of document.querySelectorAll('[data-search]')) {
      part.classList.toggle('gone', !part.dataset.search.toLowerCase().includes(wanted));
    }
  });
  const open = () => {
    const card = location.hash && document.getElementById(location.hash.slice(1));
    if (card && card.tagName === 'DETAILS') card.open = true;
  };
  addEventListener('hashchange', open);
  open();
})();
