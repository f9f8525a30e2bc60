// CPU time of process groups and of the browser, from /proc.

import { readdirSync, readFileSync } from 'node:fs';

const TICKS = 100; // per second: the unit of CPU time in the kernel, USER_HZ

/** CPU-seconds of each process group, {name: process group}, and of the browser, which is every process that this process has started. */
export function cpuSeconds(groups) {
  const processes = new Map(readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap(statistics));
  const isOurs = (pid) => pid === process.pid || (processes.has(pid) && isOurs(processes.get(pid).parent));
  const sum = (wanted) => [...processes.entries()].filter(wanted).reduce((total, [, { seconds }]) => total + seconds, 0);
  const named = Object.entries(groups).map(([name, group]) => [name, sum(([, each]) => each.group === group)]);
  return Object.fromEntries([...named, ['browser', sum(([pid, { parent }]) => isOurs(parent))]]);
}

/** The CPU-seconds since `before`, by name. */
export function spent(groups, before) {
  return Object.fromEntries(Object.entries(cpuSeconds(groups)).map(([name, seconds]) => [name, seconds - before[name]]));
}

/** The times in /proc of a process and its ended children (proc_pid_stat(5)). Empty if the process has just ended. */
function statistics(pid) {
  try {
    const [, parent, group, , , , , , , , , ...times] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
    const seconds = times.slice(0, 4).reduce((total, ticks) => total + Number(ticks), 0) / TICKS;
    return [[Number(pid), { parent: Number(parent), group: Number(group), seconds }]];
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(error.code)) {
      return [];
    }
    throw error;
  }
}
