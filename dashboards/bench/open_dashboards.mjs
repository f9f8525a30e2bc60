// Opens every dashboard in a browser, and requests the data of each chart repeatedly: node open_dashboards.mjs JOB.json RESULT.json
//
// JOB: {dashboards: [{slug, title, path, listed}], repeat, groups: {name: process group}, cache: directory of the data that
// Superset caches}. Environment: SUPERSET_URL, SUPERSET_PASSWORD (of admin).
// RESULT, rewritten after each dashboard:
// - per dashboard, once: the contents that a panel cuts off (`cutOff`).
// - per dashboard, three times: the milliseconds from the address to the last drawn chart, and the CPU-seconds of each process
//   group and of the browser. `drawn` and `cpu` cover all charts, `glanced` the charts that a window of 1440 by 1200 shows
//   without scrolling. A `listed` dashboard also has the values for a click in the list of dashboards (`clicked`, `clickedCpu`).
// - per chart: the response times of the server, `repeat` times without its cache, and the SQL.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from '../tests/browser.mjs';
import { cpuSeconds, spent } from './process_time.mjs';

const OPENINGS = 3;
const { dashboards, repeat, groups, cache } = JSON.parse(readFileSync(process.argv[2]));
const results = [];

const browser = await Browser.launch(process.env.SUPERSET_URL);
try {
  await browser.logIn('admin', process.env.SUPERSET_PASSWORD);
  await browser.open('slow-queries'); // fills the browser's cache with Superset's scripts
  for (const { slug, title, path, listed, range } of dashboards) {
    await browser.page.context().clearCookies({ name: 'tailrace_range' }); // else the range of the dashboard before
    const glanced = await glances(path);
    const { drawn, cpu, requests } = await openings(path);
    const cutOff = await browser.cutOff();
    const { clicked, clickedCpu } = listed ? await clicks(title) : { clicked: [], clickedCpu: [] };
    const charts = [];
    for (const request of requests.values()) {
      charts.push(await asked(request));
    }
    results.push({ slug, range, glanced, drawn, cpu, clicked, clickedCpu, charts, cutOff });
    writeFileSync(process.argv[3], JSON.stringify(results));
    const times = Object.entries({ 'in sight': glanced, all: drawn, clicked }).filter(([, each]) => each.length)
      .map(([name, each]) => `${name} ${Math.min(...each).toFixed(0)} ms`);
    process.stderr.write(`${slug}, ${range}: ${times.join(', ')}\n`);
  }
} finally {
  await browser.close();
}

/** Removes the cached data of charts (DATA_CACHE_CONFIG), so that each opening queries ClickHouse. */
function forgetData() {
  readdirSync(cache).forEach((file) => rmSync(join(cache, file), { force: true }));
}

/** Opens a dashboard repeatedly. Returns the times until the visible charts were drawn. */
async function glances(path) {
  const drawn = [];
  for (let opening = 0; opening < OPENINGS; opening++) {
    forgetData();
    drawn.push(await browser.glance(path));
  }
  return drawn;
}

/** Opens a dashboard repeatedly. Returns the requests by chart. */
async function openings(path) {
  const drawn = [];
  const cpu = [];
  const requests = new Map();
  const note = (request) => {
    if (request.method() === 'POST' && request.url().includes('/chart/data')) {
      const body = JSON.parse(request.postData());
      if (body.form_data?.slice_id) {
        requests.set(body.form_data.slice_id, { url: request.url(), headers: request.headers(), body });
      }
    }
  };
  browser.page.on('request', note);
  for (let opening = 0; opening < OPENINGS; opening++) {
    forgetData();
    const before = cpuSeconds(groups);
    await browser.follow(path);
    cpu.push(spent(groups, before));
    drawn.push(await browser.page.evaluate(() => window.drawnSince)); // since the navigation began
  }
  browser.page.off('request', note);
  const titles = new Map((await browser.charts()).map((chart) => [chart.slice, chart]));
  for (const [slice, request] of requests) {
    Object.assign(request, { title: titles.get(slice)?.title ?? String(slice), failed: titles.get(slice)?.failed });
  }
  return { drawn, cpu, requests };
}

/** Opens a dashboard repeatedly by a click in the list, without a change of the window's height. */
async function clicks(title) {
  const clicked = [];
  const clickedCpu = [];
  for (let opening = 0; opening < OPENINGS; opening++) {
    const before = {};
    clicked.push(await browser.openFromList(title, async () => {
      forgetData();
      Object.assign(before, cpuSeconds(groups));
    }));
    clickedCpu.push(spent(groups, before));
  }
  return { clicked, clickedCpu };
}

/** The response time of the server for one chart, and its SQL. */
async function asked({ url, headers, body, title, failed }) {
  const csrf = Object.fromEntries(Object.entries(headers).filter(([name]) => name === 'x-csrftoken'));
  const { seconds, queries, error } = await browser.page.evaluate(async ({ address, csrf, text, times }) => {
    const seconds = [];
    let queries = [];
    let error;
    for (let i = 0; i < times; i++) {
      const begun = performance.now();
      const response = await fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json', ...csrf }, body: text });
      const answer = await response.json();
      seconds.push((performance.now() - begun) / 1000);
      queries = (answer.result ?? []).map((each) => each.query);
      error = response.ok ? undefined : JSON.stringify(answer).slice(0, 300);
    }
    return { seconds, queries, error };
  }, { address: url, csrf, text: JSON.stringify({ ...body, force: true }), times: repeat });
  return { title, seconds, queries, error: error ?? (failed ? 'drawn as failed' : undefined) };
}
