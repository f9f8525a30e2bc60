// Opens every dashboard as a person would, and asks for each chart's data again and again: node drawn.mjs JOB.json RESULT.json
//
// JOB: {dashboards: [{slug, path}], repeat}. Environment: SUPERSET_URL, SUPERSET_PASSWORD (of admin).
// RESULT: per dashboard the milliseconds from the click to the last chart drawn, three times; per chart how long the server
// took to answer, `repeat` times without its cache, and the SQL that was run.

import { readFileSync, writeFileSync } from 'node:fs';
import { Browser } from '../tests/browser.mjs';

const OPENINGS = 3;
const { dashboards, repeat } = JSON.parse(readFileSync(process.argv[2]));
const results = [];

const browser = await Browser.launch(process.env.SUPERSET_URL);
try {
  await browser.logIn('admin', process.env.SUPERSET_PASSWORD);
  await browser.open('slow-queries'); // people have Superset's scripts in their browser's cache
  for (const { slug, path, range } of dashboards) {
    const { drawn, requests } = await openings(path);
    const charts = [];
    for (const request of requests.values()) {
      charts.push(await asked(request));
    }
    results.push({ slug, range, drawn, charts });
    process.stderr.write(`${slug}, ${range}: ${Math.min(...drawn).toFixed(0)} ms\n`);
  }
} finally {
  await browser.close();
}
writeFileSync(process.argv[3], JSON.stringify(results));

/** Opens a dashboard some times; what its charts asked for, by chart. */
async function openings(path) {
  const drawn = [];
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
    await browser.follow(path);
    drawn.push(await browser.page.evaluate(() => window.drawnSince)); // since the navigation began
  }
  browser.page.off('request', note);
  const titles = new Map((await browser.charts()).map((chart) => [chart.slice, chart]));
  for (const [slice, request] of requests) {
    Object.assign(request, { title: titles.get(slice)?.title ?? String(slice), failed: titles.get(slice)?.failed });
  }
  return { drawn, requests };
}

/** How long the server takes to answer one chart, and by which SQL. */
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
