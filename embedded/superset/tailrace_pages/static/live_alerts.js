// Says how many alerts were detected since the inbox was loaded. The rows do not move: the link loads them.
'use strict';

const PAUSE_MS = 30_000;
const notice = document.querySelector('[data-live]');

async function ask() {
  if (document.hidden) {
    return;
  }
  const answer = await fetch(`${notice.dataset.live}?since=${notice.dataset.since}`).catch(() => null);
  if (!answer?.ok || answer.redirected) {
    return;
  }
  const { alerts } = await answer.json();
  if (alerts > 0) {
    notice.querySelector('span').textContent = alerts === 1 ? '1 new alert.' : `${alerts.toLocaleString('en')} new alerts.`;
    notice.hidden = false;
  }
}

setInterval(ask, PAUSE_MS);
document.addEventListener('visibilitychange', ask);
