// A person at a dashboard: opens it in Chromium, waits until every chart is drawn, and reads what it shows.
//
// Also keeps an account of what a person would not see: requests that leave the machine, errors of the console,
// and charts whose query failed.

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { parseRison } from './rison.mjs';
import { chartsAnswered, isDrawn, requestLike, requestsOf } from './chart_requests.mjs';

/** Chromium without windows: it takes a fifth less CPU time than `chromium --headless`, which starts all of Chromium. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
/** The server may close an idle connection just when a request is sent on it. Browsers then send it again, too. */
const AGAIN = { maxRetries: 2 };
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--hide-scrollbars'];
/** Further ones, which tests set and measurements do not (browser.py). */
const FLAGS = process.env.CHROMIUM_FLAGS?.split(' ') ?? [];
/** Where Chromium keeps what it fetched and compiled, for all files of tests; by default each file begins with nothing. */
const CACHE = process.env.BROWSER_CACHE ? [`--disk-cache-dir=${process.env.BROWSER_CACHE}`] : [];
/** The tabs of a dashboard, and the name of the only view of one without tabs. */
const TABS = '[role="tab"][id^="TABS-"]';
const WHOLE = '';
const TROUBLE = /Data error|Unexpected error|Content Security Policy|Network error|Timeout error/;
const CHART = '[data-test-viz-type]';
/** A path below the dashboards' server that none of Superset's pages has. */
const NOWHERE = '/superset/nowhere/';
const SOMETHING = 'canvas, svg, table, .header-line, .superset-legacy-chart-big-number, .ant-empty, [role="alert"]';
/** Charts are not animated (embedded/superset/superset_config.py): what is drawn for so long stays. */
const STILL_MS = 200;
/** How long a table may take to measure its columns on a busy machine. */
const LAYOUT_MS = 300_000;
/** Between two looks at the page. Each reads all charts: on a busy machine, which draws for minutes, looks add up. */
const POLL_MS = 250;
/** High enough for the first view of every dashboard: a window that grows draws its charts again. */
const WINDOW_HEIGHT = 1400;
/** A form that is not there by then was mounted again; it is opened again, so many times in all, with longer times. */
const FORM_MS = 20_000;
const FORM_ATTEMPTS = 6;

export class Browser {
  static async launch(url, viewport = { width: 1440, height: 1200 }) {
    const profile = mkdtempSync(join(tmpdir(), 'tailrace-browser-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM, headless: true, viewport, args: [...QUIET, ...FLAGS, ...CACHE], timezoneId: 'America/New_York', locale: 'en-GB',
    });
    await context.addInitScript(refreshSeldom);
    return new Browser(url, profile, context, viewport);
  }

  constructor(url, profile, context, viewport) {
    Object.assign(this, { url, profile, context, viewport, page: context.pages()[0] });
    context.setDefaultTimeout(600_000); // of the pages and of requests without one: CI runs much else at the same time
    this.outside = [];
    this.errors = [];
    this.answers = new Map();
    this.asked = new Map();
    this.asking = new Set();
    this.opened = new Map();
    this.filters = new Map();
    this.views = new Map();
    this.changes = 0;
    this.page.on('request', (request) => this.#noteRequest(request));
    this.page.on('requestfailed', (request) => this.asking.delete(request));
    this.page.on('console', (message) => this.#noteConsole(message));
    this.page.on('pageerror', (error) => this.errors.push(`exception: ${error.message}`));
    this.page.on('response', (response) => this.#noteResponse(response));
  }

  #noteRequest(request) {
    const url = request.url();
    if (!/^(data|blob|about):/.test(url) && !url.startsWith(this.url)) {
      this.outside.push(url);
    }
    const slice = sliceOf(request);
    if (slice !== undefined) {
      this.asking.add(request);
      this.asked.set(slice, request);
    }
  }

  #noteConsole(message) {
    if (message.type() === 'error') {
      this.errors.push(`console: ${message.text()} (${message.location().url})`);
    }
  }

  async #noteResponse(response) {
    if (response.status() >= 400) {
      this.errors.push(`HTTP ${response.status()}: ${response.url()}`);
    }
    const slice = sliceOf(response.request());
    const answered = slice && await response.json().catch(() => null); // the page has gone on: nobody saw it
    if (answered?.result) {
      this.answers.set(slice, answered.result);
    }
    this.asking.delete(response.request());
  }

  async logIn(user, password) {
    // The page reports its own loading a moment later, as nobody; were that answered after the login, its
    // cookie would end the new session. People are slower.
    const reported = this.page.waitForResponse(/superset\/log/);
    await this.page.goto(`${this.url}/login/`, { waitUntil: 'domcontentloaded' });
    await reported;
    await this.page.fill('[data-test="username-input"], input[name="username"]', user);
    await this.page.fill('[data-test="password-input"], input[name="password"]', password);
    await this.page.click('[data-test="login-button"], button[type="submit"]');
    await this.page.waitForURL((url) => !url.pathname.includes('/login'));
    this.user = user;
  }

  /** Logs in by the requests that the form sends: what `logIn` takes for two pages is five CPU-seconds. */
  async logInByRequest(user, password) {
    await logInByRequest(this.page.request, this.url, user, password);
    this.user = user;
  }

  /**
   * Opens a dashboard and draws each of its tabs, also below the window's edge. With DRAWN (chart_requests.mjs) it draws some tabs,
   * and sends the requests of the other charts without drawing them; `show` draws any tab. From another dashboard it is
   * opened inside Superset's page; `follow` loads the page of an address.
   * `chosen` are filters as a link sets them: {range: [from, to]} in milliseconds since 1970, and values by column.
   */
  async open(slug, chosen = {}) {
    try {
      const path = `/superset/dashboard/${slug}/${address(chosen)}`;
      await (this.#isInside() ? this.#goTo(slug, path) : this.follow(path));
      await this.#keep(slug);
    } catch (error) {
      this.opened.set(slug, error);
      throw error;
    }
  }

  /** Whether the scripts run that can show a dashboard: a dashboard is open, or the list of them. */
  #isInside() {
    return [`${this.url}/superset/dashboard/`, `${this.url}/dashboard/list/`].some((start) => this.page.url().startsWith(start));
  }

  /** Draws tabs, and keeps what the charts of all tabs asked. */
  async #keep(slug) {
    this.opened.set(slug, { charts: await this.charts(), asked: new Map(this.asked) });
    await this.#compareRequests();
    if (process.env.OPENED) { // test_browser.py asks whether any was left out
      const drawn = [...this.views].filter(([, { isDrawn: is }]) => is).map(([tab]) => tab);
      appendFileSync(process.env.OPENED, drawn.map((tab) => `${JSON.stringify([this.user, slug, tab])}\n`).join(''));
    }
  }

  /** Notes each drawn chart whose request is not the one that chart_requests.mjs gets for it. */
  async #compareRequests() {
    const sent = this.#sentByPage();
    const slices = [...sent.keys()];
    for (const { slice, panel, content } of await requestsOf(this.page, { slices, form: this.#pageForm() })) {
      const [built, asked] = [content, sent.get(slice).postDataJSON()].map(({ queries }) => JSON.stringify(queries));
      if (built !== asked) {
        this.errors.push(`the request of "${panel}" is ${asked}, but chart_requests.mjs gets ${built}`);
      }
    }
  }

  /** The requests of the drawn charts of this dashboard, by slice. */
  #sentByPage() {
    const drawn = [...this.views.values()].filter(({ isDrawn: is }) => is).flatMap(({ charts }) => charts);
    return new Map(drawn.map(({ slice }) => [slice, this.asked.get(slice)]));
  }

  /** The form data of the drawn chart with the most filters: a clicked value is a filter of all charts but its own. */
  #pageForm() {
    const forms = [...this.#sentByPage().values()].map((sent) => sent.postDataJSON().form_data);
    const count = (form) => form.extra_form_data?.filters?.length ?? 0;
    return forms.reduce((most, form) => (count(form) > count(most) ? form : most));
  }

  /** Draws all of the dashboard to which a login has led, as `open` does. */
  async land(slug) {
    await this.page.waitForURL((url) => url.pathname === `/superset/dashboard/${slug}/`);
    await this.#opened();
    await this.#keep(slug);
  }

  /** Opens a dashboard by path and query, and draws its first tab, or that of the path; `charts` opens the others. */
  async follow(path) {
    await this.#growWindow();
    await this.page.goto(`${this.url}${path}`, { waitUntil: 'domcontentloaded' });
    await this.#opened();
  }

  async #growWindow() {
    const { width, height } = this.page.viewportSize();
    await this.page.setViewportSize({ width, height: Math.max(height, WINDOW_HEIGHT) });
  }

  /**
   * Opens a dashboard as `follow` does, but as links inside Superset do: its scripts run on. To load and compile them again
   * takes several CPU-seconds. The address in between, which shows nothing, ends the dashboard that is open.
   */
  async #goTo(slug, path) {
    await this.#growWindow();
    if (new URL(this.page.url()).pathname === `/superset/dashboard/${slug}/`) {
      await this.showFirst(); // Superset opens the same dashboard at the tab that was open
    }
    await this.#route(NOWHERE);
    await this.page.waitForSelector(CHART, { state: 'detached' });
    const answered = this.page.waitForResponse((response) => new URL(response.url()).pathname === `/api/v1/dashboard/${slug}/charts`);
    await this.#route(path);
    const answer = await answered;
    if (!answer.ok()) {
      throw new Error(`charts of ${slug}: HTTP ${answer.status()}`);
    }
    const charts = (await answer.json()).result.map(({ id }) => id);
    await this.page.waitForFunction(([chart, its]) => {
      const shown = [...document.querySelectorAll(chart)].map((each) => Number(each.getAttribute('data-test-chart-id')));
      return shown.length > 0 && shown.every((id) => its.includes(id)); // at first it shows those of the dashboard before
    }, [CHART, charts], { polling: POLL_MS });
    await this.#opened();
  }

  /** Opens the list of dashboards from a dashboard, as Superset's menu does. */
  async list() {
    await this.#route(NOWHERE);
    await this.page.waitForSelector(CHART, { state: 'detached' });
    await this.#route('/dashboard/list/?pageSize=100');
  }

  /** Changes the address within Superset's page, as the browser's buttons for back and forward do. */
  async #route(path) {
    await this.page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate', { state: null }));
    }, path);
  }

  /** Opens a dashboard; how many milliseconds until the charts in sight were drawn: what a person sees before scrolling. */
  async glance(path) {
    await this.page.setViewportSize(this.viewport);
    await this.page.goto(`${this.url}${path}`, { waitUntil: 'domcontentloaded' });
    await this.page.waitForSelector('[data-test-viz-type]');
    await this.#drawn({ inSightOnly: true });
    const milliseconds = await this.page.evaluate(() => window.drawnSince);
    await this.page.waitForLoadState('networkidle'); // what was asked for below shall not be in the way of what is opened next
    return milliseconds;
  }

  /**
   * Opens a dashboard by a click in the list of dashboards, as one does who is logged in, in a window as high as it is now;
   * how many milliseconds until its charts were drawn. Superset's scripts run already: only the address changes. `ready` is
   * awaited before the click.
   */
  async openFromList(title, ready) {
    await this.page.goto(`${this.url}/dashboard/list/`, { waitUntil: 'networkidle' });
    await ready();
    await this.page.evaluate(() => addEventListener('click', () => { window.clicked = performance.now(); }, { capture: true, once: true }));
    await this.page.getByRole('link', { name: title, exact: true }).click();
    await this.page.waitForSelector('[data-test-viz-type]');
    await this.settle();
    return this.page.evaluate(() => window.drawnSince - window.clicked);
  }

  /** Clicks a link in a table, which opens another dashboard. */
  async followLink(title, text) {
    await this.show(title);
    const left = this.page.waitForNavigation({ waitUntil: 'domcontentloaded' });
    await this.page.locator(`[data-test-chart-name="${title}"] tbody a`, { hasText: text }).first().click();
    await left;
    await this.#opened();
  }

  async #opened() {
    await this.page.waitForSelector('[data-test-viz-type]');
    this.changes += 1;
    const tabs = await this.page.$$eval(TABS, (found) => found.map((tab) => tab.innerText.trim()));
    this.views = new Map((tabs.length > 0 ? tabs : [WHOLE]).map((tab) => [tab, { charts: [] }]));
    await this.#view(await this.#openTab());
  }

  async #openTab() {
    return this.page.$$eval(TABS, (tabs, whole) => {
      const open = tabs.find((tab) => tab.getAttribute('aria-selected') === 'true');
      return open ? open.innerText.trim() : whole;
    }, WHOLE);
  }

  /** What a tab shows: its charts, and what of it is cut off. It is read again if something has changed. */
  async #view(tab) {
    const { read, isDrawn: wasDrawn } = this.views.get(tab);
    if (read !== this.changes) {
      await (wasDrawn || isDrawn(this.#slug(), tab) || tab === await this.#openTab() ? this.#draw(tab) : this.#ask(tab));
    }
    return this.views.get(tab);
  }

  async #draw(tab) {
    await this.#turnTo(tab);
    await this.fitWindow();
    await this.settle();
    this.views.set(tab, { read: this.changes, isDrawn: true, charts: await this.#read(), cutOff: await this.#cutOff() });
  }

  /** Sends the requests of the charts of a tab without drawing them. */
  async #ask(tab) {
    const form = this.#pageForm();
    const sent = this.asked.get(form.slice_id);
    const charts = await Promise.all((await requestsOf(this.page, { tab, form })).map(async (chart) => {
      this.asked.set(chart.slice, requestLike(sent, chart.slice, chart.content));
      const headers = { 'X-CSRFToken': sent.headers()['x-csrftoken'], Referer: this.page.url() };
      const answer = await this.page.request.post(this.asked.get(chart.slice).url(), { data: chart.content, headers, ...AGAIN });
      const text = await answer.text();
      return chartsAnswered(this.#slug(), chart, text, answer.ok() ? JSON.parse(text).result : undefined);
    }));
    this.views.set(tab, { read: this.changes, charts: charts.flat(), cutOff: [] });
  }

  /** The slug of the open dashboard. */
  #slug() {
    return /^\/superset\/dashboard\/([^/]+)\//.exec(new URL(this.page.url()).pathname)[1];
  }

  /** Opens a tab. Superset shows its panel a moment after the tab is selected. */
  async #turnTo(tab) {
    if (tab !== undefined && tab !== WHOLE && tab !== await this.#openTab()) { // undefined: a login has led here, nothing was read
      const opener = this.page.locator(TABS).nth([...this.views.keys()].indexOf(tab));
      await opener.click();
      const panel = `[id="${await opener.getAttribute('aria-controls')}"]`;
      await this.page.locator(`${panel} [data-test-viz-type], ${panel} .dashboard-markdown`).first().waitFor();
    }
  }

  /** The tab of a chart: one that was read before, or else one that was not. */
  async #tabOf(title) {
    const shows = ([, { charts }]) => charts.some((chart) => chart.title === title || chart.panel === title);
    for (const [tab] of [...this.views].filter(([, { read }]) => read === undefined)) {
      if ([...this.views].some(shows)) {
        break;
      }
      await this.#view(tab);
    }
    const [tab] = [...this.views].find(shows) ?? [];
    if (tab === undefined) {
      throw new Error(`no chart "${title}"; there are ${this.#known().map((each) => each.title).join(', ')}`);
    }
    return tab;
  }

  /** Opens the tab of a chart, as far as it is not open, and waits until its charts are drawn. */
  async show(title) {
    const tab = await this.#tabOf(title);
    if (!this.views.get(tab).isDrawn) {
      await this.#draw(tab);
    }
    await this.#turnTo(tab);
    await this.settle();
  }

  /** Opens the first tab, which people see first. */
  async showFirst() {
    await this.#turnTo([...this.views.keys()][0]);
    await this.settle();
  }

  /** Makes the window as high as the dashboard, because Superset draws only charts that are in sight. It never shrinks. */
  async fitWindow() {
    const height = await this.page.evaluate(() =>
      document.querySelector('.dashboard-content, [data-test="dashboard-content-wrapper"]').scrollHeight + 160);
    const { width, height: now } = this.page.viewportSize();
    if (height > now) {
      await this.page.setViewportSize({ width, height: Math.ceil(height) });
    }
  }

  /** Waits until no visible chart asks or loads, and each has shown something for a moment. */
  async settle() {
    do {
      await this.#drawn({ inSightOnly: false });
    } while (this.asking.size > 0);
  }

  /** Waits until each chart, or each in sight, has shown something for a while; window.drawnSince is when that began. */
  async #drawn({ inSightOnly }) {
    await this.page.evaluate(() => { window.drawnSince = undefined; });
    await this.page.waitForFunction(({ something, still, inSightOnly }) => {
      const inSight = (chart) => {
        const { top, bottom } = chart.getBoundingClientRect();
        return bottom > 0 && top < window.innerHeight;
      };
      const charts = [...document.querySelectorAll('[data-test-viz-type]')]
        .filter((chart) => chart.offsetParent && (!inSightOnly || inSight(chart)));
      const loading = '.loading, [data-test="loading-indicator"], .ant-skeleton';
      const texts = [...document.querySelectorAll('.dashboard-markdown')].filter((text) => text.offsetParent);
      const drawn = charts.length + texts.length > 0
        && charts.every((chart) => !chart.querySelector(loading) && chart.querySelector(something))
        && !document.querySelector('[data-test="filter-bar"]').querySelector(loading);
      window.drawnSince = drawn ? window.drawnSince ?? performance.now() : undefined;
      return drawn && performance.now() - window.drawnSince > still;
    }, { something: SOMETHING, still: STILL_MS, inSightOnly }, { polling: POLL_MS });
  }

  /**
   * Every chart of the dashboard: its title, kind, text, and whether it shows an error or nothing. A row of numbers is as
   * many charts, each with the row's data.
   */
  async charts() {
    for (const tab of this.views.keys()) {
      await this.#view(tab);
    }
    return this.#known();
  }

  /** A chart as it was read. Only after a change its tab is opened and read again, because that draws all of the tab. */
  async chart(title) {
    const { charts } = await this.#view(await this.#tabOf(title));
    return charts.find((each) => each.title === title);
  }

  /** The charts of the tabs that were read, as they were read. */
  #known() {
    return [...this.views.values()].flatMap(({ charts }) => charts);
  }

  /** The charts of the open tab. */
  async #read() {
    const found = await this.page.$$eval('[data-test-viz-type]', (charts) => charts.flatMap((chart) => {
      const panel = chart.getAttribute('data-test-chart-name');
      if (!chart.offsetParent) {
        return [];
      }
      const common = {
        kind: chart.getAttribute('data-test-viz-type'),
        slice: Number(chart.getAttribute('data-test-chart-id')),
        panel,
        title: panel,
        text: chart.innerText,
        empty: Boolean(chart.querySelector('.ant-empty')),
      };
      const written = (cell, side) => getComputedStyle(cell, side).content.slice(1, -1);
      const numbers = panel.endsWith(' summary') ? [...chart.querySelectorAll('tbody td')] : [];
      return numbers.length === 0 ? [common] : numbers.map((cell) => ({
        ...common,
        kind: 'number',
        title: written(cell, '::before'),
        text: [written(cell, '::before'), cell.innerText, written(cell, '::after')].join('\n'),
      }));
    }));
    return found.map((chart) => ({ ...chart, failed: TROUBLE.test(chart.text), data: this.answers.get(chart.slice)?.[0].data }));
  }

  /**
   * The charts of this page with further filters, as `open` takes them, without drawing them: a redraw of a page takes ten
   * CPU-seconds. Superset gets the request that the chart sent, with the filters that the filter bar would add.
   */
  filtered({ range, ...values }) {
    const filters = Object.entries(values).map(([col, value]) => ({ col, op: 'IN', val: [value] }));
    return new FilteredCharts(this, () => this.#known(), {
      asked: this.asked, filters, timeRange: range?.map(isoSeconds).join(' : '), isLink: false,
    });
  }

  /**
   * The charts of the dashboard that a link leads to, with the link's filters, without opening it. This browser must have
   * opened that dashboard before. Throws if Superset would not understand the link.
   */
  async linked(href) {
    const { pathname, searchParams } = new URL(href, this.url);
    const slug = /^\/superset\/dashboard\/([^/]+)\/$/.exec(pathname)[1];
    const { charts, asked } = this.#openedAs(slug);
    const known = await this.#filtersOf(slug);
    const set = Object.entries(parseRison(searchParams.get('native_filters')));
    for (const [key, { id, extraFormData }] of set) {
      const columns = (extraFormData.filters ?? []).map(({ col }) => col);
      if (id !== key || !known.has(id) || columns.some((column) => column !== known.get(id))) {
        throw new Error(`${slug} has no filter ${key} for ${columns}: ${href}`);
      }
    }
    const filters = set.flatMap(([, { extraFormData }]) => extraFormData.filters ?? []);
    const timeRange = set.map(([, { extraFormData }]) => extraFormData.time_range).find(Boolean);
    return new FilteredCharts(this, () => charts, { asked, filters, timeRange, isLink: true });
  }

  /** What `open` keeps of a dashboard. Throws with the reason if it is not open. */
  #openedAs(slug) {
    const opened = this.opened.get(slug) ?? new Error('no test has called open');
    if (opened instanceof Error) {
      throw new Error(`${slug} was not opened in this browser: ${opened.message}`, { cause: opened });
    }
    return opened;
  }

  /** The charts of a dashboard that this browser has opened before, with other filters, as `open` takes them; not drawn. */
  reopened(slug, chosen) {
    return this.linked(`/superset/dashboard/${slug}/${address(chosen)}`);
  }

  /** Columns of a dashboard's filters, by the filters' names. */
  async #filtersOf(slug) {
    if (!this.filters.has(slug)) {
      const answer = await this.page.request.get(`${this.url}/api/v1/dashboard/${slug}`);
      const { native_filter_configuration: filters } = JSON.parse((await answer.json()).result.json_metadata);
      this.filters.set(slug, new Map(filters.map(({ id, targets }) => [id, targets[0]?.column?.name])));
    }
    return this.filters.get(slug);
  }

  /** The link with this text in the first row of a table that has one. */
  async href(title, text) {
    await this.show(title);
    return this.page.locator(`[data-test-chart-name="${title}"] tbody a`, { hasText: text }).first().getAttribute('href');
  }

  /** Sends a chart's request again, with these filters added, or in place of all that people set. Returns the response. */
  async requestAgain(slice, { asked, filters, timeRange, isLink }) {
    const sent = asked.get(slice);
    const content = sent.postDataJSON();
    const before = new Set((content.form_data.extra_form_data?.filters ?? []).map((each) => JSON.stringify(each)));
    for (const query of content.queries) {
      const kept = (query.filters ?? []).filter((each) => !isLink || !before.has(JSON.stringify(each)));
      query.filters = [...kept, ...filters.map((each) => ({ ...each, isExtra: true }))];
      query.time_range = timeRange ?? query.time_range;
    }
    const headers = { 'X-CSRFToken': sent.headers()['x-csrftoken'], Referer: this.page.url() };
    return this.page.request.post(sent.url(), { data: content, headers, ...AGAIN });
  }

  /** The rows of a table as a person reads them. */
  async table(title) {
    await this.show(title);
    return this.page.$$eval(`[data-test-chart-name="${title}"] tbody tr`, (rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim())));
  }

  /** The headings of the rows of a pivot table that a person sees without scrolling inside its panel. */
  async rowsInSight(title) {
    await this.show(title);
    return this.page.$$eval(`[data-test-chart-name="${title}"] .pvtTable tbody tr`, (rows) => rows.filter((row) => {
      const { bottom } = row.getBoundingClientRect();
      for (let box = row.parentElement; box !== document.body; box = box.parentElement) {
        if (getComputedStyle(box).overflowY !== 'visible' && bottom > box.getBoundingClientRect().bottom + 1) {
          return false;
        }
      }
      return true;
    }).map((row) => row.querySelector('th').innerText.trim()));
  }

  /** The two lines that a person reads where a chart has nothing to draw. */
  async saysWhenEmpty(title) {
    await this.show(title);
    return this.page.$$eval(`[data-test-chart-name="${title}"] [aria-label="empty"] + div p`, (lines) =>
      lines.map((line) => getComputedStyle(line, '::after').content.slice(1, -1)));
  }

  /**
   * Texts that are higher than their panel, pages of tables whose last rows are below its edge, and tables that are wider: one
   * must scroll inside. A menu that is below the header. The window is 1,440 pixels wide, a common width of laptops.
   */
  async cutOff() {
    await this.charts();
    return [...this.views.values()].flatMap(({ cutOff }) => cutOff);
  }

  /** A table measures its columns after it was drawn: what is cut off then does not count. */
  async #cutOff() {
    let found = await this.#cutOffNow();
    for (const end = Date.now() + LAYOUT_MS; found.length && Date.now() < end; found = await this.#cutOffNow()) {
      await this.page.evaluate(() => new Promise(requestAnimationFrame));
    }
    return found;
  }

  async #cutOffNow() {
    return this.page.evaluate(() => {
      const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowY)
        && element.scrollHeight > element.clientHeight + 2;
      const texts = [...document.querySelectorAll('.dashboard-markdown')]
        .filter((text) => [...text.querySelectorAll('*')].some(scrolls)).map((text) => `text: ${text.innerText.slice(0, 40)}`);
      const tables = [...document.querySelectorAll('[data-test-viz-type="table"]')]
        .filter((table) => table.querySelector('.ant-pagination, .pagination') && [...table.querySelectorAll('*')].some(scrolls))
        .map((table) => `table: ${table.getAttribute('data-test-chart-name')}`);
      const sideways = [...document.querySelectorAll('[data-test-viz-type="table"]')]
        .filter((table) => table.offsetParent && [...table.querySelectorAll('div:has(> table)')].some((box) => box.scrollWidth > box.clientWidth + 2))
        .map((table) => `table wider than its panel: ${table.getAttribute('data-test-chart-name')}`);
      const menu = document.querySelector('.main-nav')?.getBoundingClientRect();
      const menus = menu && (menu.top > 0 || menu.right > window.innerWidth) ? ['the menu does not fit into the header'] : [];
      return [...texts, ...tables, ...sideways, ...menus];
    });
  }

  /** Picks a value in a filter of the bar on the left; applyFilters makes it count. */
  async choose(filter, value) {
    await this.page.locator(`[data-test="NATIVE_FILTER-${filter}"]`).click();
    await this.page.keyboard.type(value);
    await this.page.locator('.ant-select-item-option:visible', { hasText: value }).first().click();
    await this.page.keyboard.press('Escape');
  }

  /** Opens a filter of the bar on the left, and waits until it offers exactly these values. */
  async awaitOffered(filter, values) {
    await this.page.locator(`[data-test="NATIVE_FILTER-${filter}"]`).click();
    await this.page.waitForFunction((expected) => {
      const shown = document.querySelectorAll('.ant-select-dropdown:not(.ant-select-dropdown-hidden) .ant-select-item-option');
      return JSON.stringify([...shown].map((option) => option.innerText)) === expected;
    }, JSON.stringify(values));
    await this.page.keyboard.press('Escape');
  }

  async applyFilters() {
    await this.#redrawn(() => this.page.click('[data-test="filter-bar__apply-button"]'));
  }

  /** Sets the time range filter to [from, to), milliseconds since 1970, and applies it. */
  async chooseTimeRange(from, to) {
    const popover = await this.#advancedTimeRange();
    const [since, until] = [from, to].map(isoSeconds);
    await popover.locator('input.ant-input').nth(0).fill(since);
    await popover.locator('input.ant-input').nth(1).fill(until);
    const [first, last] = [since, until].map((time) => time.replace('T00:00:00', '')); // Superset writes midnight as a date
    await popover.getByText(`${first} ≤ col < ${last}`, { exact: true }).waitFor(); // the server has understood it
    await popover.getByRole('button', { name: 'Apply' }).click();
    await this.applyFilters();
  }

  /** Opens the form of the time range. Superset mounts it again when its data comes: a click before that is lost. */
  async #advancedTimeRange() {
    const popover = this.page.locator('.ant-popover').filter({ hasText: 'Edit time range' });
    for (let attempt = 1; ; attempt++) {
      const timeout = attempt * FORM_MS;
      try {
        await this.page.click('[data-test="time-range-trigger"]', { timeout });
        await popover.locator('.ant-select').first().click({ timeout });
        await this.page.locator('.ant-select-item-option:visible', { hasText: 'Advanced' }).click({ timeout });
        await popover.getByText('Configure Advanced Time Range').waitFor({ timeout });
        return popover;
      } catch (error) {
        if (attempt === FORM_ATTEMPTS) {
          throw error;
        }
        await this.page.keyboard.press('Escape');
        await this.page.keyboard.press('Escape');
        await popover.waitFor({ state: 'hidden', timeout }).catch(() => {});
      }
    }
  }

  /** Clicks a value in a table, which filters the other charts by it, or undoes that. */
  async clickCell(title, value) {
    await this.show(title);
    const cell = this.page.locator(`[data-test-chart-name="${title}"] tbody td`).filter({ hasText: value }).first();
    await this.#redrawn(() => cell.click());
  }

  async turnPage(title, number) {
    await this.show(title);
    const pages = this.page.locator(`[data-test-chart-name="${title}"] .pagination, [data-test-chart-name="${title}"] .ant-pagination`);
    await this.#redrawn(() => pages.getByText(String(number), { exact: true }).click());
  }

  /** Types a text into the search box of a table, which the server pages. It is for the first column. */
  async search(title, text) {
    await this.show(title);
    await this.#redrawn(() => this.page.locator(`[data-test-chart-name="${title}"] .dt-global-filter input`).fill(text));
  }

  /** Does something that makes charts ask again, and waits until they have drawn the answer. */
  async #redrawn(action) {
    const asked = this.page.waitForResponse((response) => sliceOf(response.request()) !== undefined);
    await action();
    await asked;
    this.changes += 1;
    await this.settle();
  }

  /** A picture of what people see first. */
  async screenshot(path) {
    await this.showFirst();
    await this.page.mouse.move(0, 0);
    await this.page.evaluate(() => window.scrollTo(0, 0)); // a filter that was clicked may have moved the page
    await this.page.screenshot({ path });
  }

  async close() {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}

/** What charts show with other filters: answers to `chart` and `charts` as the browser does. `known` are the charts. */
class FilteredCharts {
  constructor(browser, known, chosen) {
    Object.assign(this, { browser, known, chosen, answers: new Map() });
  }

  async chart(title) {
    const known = await this.known();
    const chart = known.find((each) => each.title === title);
    if (!chart) {
      throw new Error(`no chart "${title}"; there are ${known.map((each) => each.title).join(', ')}`);
    }
    return this.#filtered(chart);
  }

  async charts() {
    return Promise.all((await this.known()).map((chart) => this.#filtered(chart)));
  }

  /** The chart, with the rows of the answer in place of those that the page shows. */
  async #filtered(chart) {
    if (!this.answers.has(chart.slice)) {
      this.answers.set(chart.slice, this.browser.requestAgain(chart.slice, this.chosen));
    }
    const response = await this.answers.get(chart.slice);
    const text = await response.text();
    const result = response.ok() ? JSON.parse(text).result : [];
    const failed = result.length === 0 || result.some(({ error }) => error);
    return { ...chart, text, failed, data: result[0]?.data, empty: result[0]?.rowcount === 0 };
  }
}

/** Logs a session of requests in, whether of a page or without a browser, by the requests that the form sends. */
export async function logInByRequest(request, url, user, password) {
  const form = await (await request.get(`${url}/login/`)).text();
  const token = /id="csrf_token"[^>]*value="([^"]+)"/.exec(form)[1];
  const answer = await request.post(`${url}/login/`, { form: { username: user, password, csrf_token: token }, maxRedirects: 0 });
  if (answer.status() !== 302 || answer.headers().location.includes('/login')) {
    throw new Error(`login of ${user}: HTTP ${answer.status()}`);
  }
}

/** The link with this text in the first of these rows that has one. */
export function hrefIn(rows, text) {
  const links = rows.flatMap((row) => Object.values(row))
    .flatMap((value) => [...String(value).matchAll(/<a href="([^"]+)">(.*?)<\/a>/g)]);
  return links.find(([, , shown]) => shown.includes(text))[1];
}

/** The query of a dashboard's address that sets filters, in Rison as sql/queries/parts/links.sql writes it. */
function address({ range, ...values }) {
  const filters = Object.entries(values).map(([column, value]) => filter(
    column, `filters:!((col:${column},op:IN,val:!('${value}')))`, `label:'${value}',value:!('${value}')`));
  if (range) {
    const [from, to] = range.map(isoSeconds);
    filters.push(filter('time-range', `time_range:'${from} : ${to}'`, `value:'${from} : ${to}'`));
  }
  return filters.length > 0 ? `?native_filters=${encodeURIComponent(`(${filters})`)}` : '';
}

function filter(name, asked, shown) {
  const id = `NATIVE_FILTER-${name}`;
  return `${id}:(extraFormData:(${asked}),filterState:(${shown}),id:${id},ownState:())`;
}

function isoSeconds(time) {
  return new Date(time).toISOString().slice(0, 19);
}

/**
 * In the page: dashboards refresh once a day. By their refresh_frequency one that is open while tests compare its values would
 * ask for and draw all of its charts each minute.
 */
function refreshSeldom() {
  const { fetch } = window;
  window.fetch = async (asked, ...options) => {
    const answer = await fetch(asked, ...options);
    const { pathname } = new URL(asked.url ?? asked, location.href);
    if (!/^\/api\/v1\/dashboard\/[^/]+$/.test(pathname) || !answer.ok) {
      return answer;
    }
    const seldom = (await answer.text()).replace(/(\\"refresh_frequency\\": ?)\d+/, '$186400');
    return new Response(seldom, answer);
  };
}

/** The chart that asks for data by this request; undefined for other requests, such as a filter's for its values. */
function sliceOf(request) {
  const asks = request.method() === 'POST' && request.url().includes('/chart/data');
  return asks ? JSON.parse(request.postData()).form_data?.slice_id : undefined;
}
