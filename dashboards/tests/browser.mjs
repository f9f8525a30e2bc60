// Opens dashboards in Chromium as a user does, waits until every chart is drawn, and reads the contents of the charts.
//
// It also records what users do not see: requests to other machines, errors of the console, charts whose query failed, and series
// without the colour that their dashboard names.

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { parseRison } from './rison.mjs';
import { wronglyColoured } from './series_colours.mjs';
import { chartsAnswered, isDrawn, requestLike, requestsOf } from './chart_requests.mjs';

/** Chromium without windows. It takes a fifth less CPU time than `chromium --headless`, which starts the whole browser. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
/** The error if the server closes an idle connection at the moment of a request. Browsers repeat such requests, too. */
const AGAIN = { maxRetries: 2 };
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--hide-scrollbars'];
/** Further arguments, which tests set and benchmarks do not set (browser.py). */
const FLAGS = process.env.CHROMIUM_FLAGS?.split(' ') ?? [];
/** The directory of Chromium's cache of files and compiled code, for all test files. By default each test file has an empty cache. */
const CACHE = process.env.BROWSER_CACHE ? [`--disk-cache-dir=${process.env.BROWSER_CACHE}`] : [];
/** The tabs of a dashboard, and the name of the only view of a dashboard without tabs. */
const TABS = '[role="tab"][id^="TABS-"]';
const WHOLE = '';
const TROUBLE = /Data error|Unexpected error|Content Security Policy|Network error|Timeout error/;
const CHART = '[data-test-viz-type]';
/** A path for which Superset has no page. */
const NOWHERE = '/superset/nowhere/';
const SOMETHING = 'canvas, svg, table, .header-line, .superset-legacy-chart-big-number, .ant-empty, [role="alert"]';
/** Milliseconds. Charts are not animated (superset_config.py), so contents that last for this time are final. */
const STILL_MS = 200;
/** After this many frames a table has measured its columns. A busy machine draws fewer frames per second. */
const LAYOUT_FRAMES = 300;
/** The longest time of an action, in milliseconds: CI runs other suites at the same time. */
const TIMEOUT_MS = Number(process.env.BROWSER_TIMEOUT_MS ?? 600_000);
/** The time between two reads of the page, in milliseconds. Each reads all charts, which costs CPU time on a busy machine. */
const POLL_MS = 250;
/** Lines of a column's title. */
const MOST_TITLE_LINES = 3;
/** A height that contains the first view of every dashboard. A window that grows draws its charts again. */
const WINDOW_HEIGHT = 1400;
/** If a form is absent after this time, Superset has mounted it again. The test opens it up to this many times, with longer waits. */
const FORM_MS = 20_000;
const FORM_ATTEMPTS = 6;

export class Browser {
  static async launch(url, viewport = { width: 1440, height: 1200 }) {
    const profile = mkdtempSync(join(tmpdir(), 'tailrace-browser-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM, headless: true, viewport, args: [...QUIET, ...FLAGS, ...CACHE], timezoneId: 'America/New_York', locale: 'en-GB',
    });
    await context.addInitScript(refreshSeldom);
    await context.addInitScript(defineShown);
    return new Browser(url, profile, context, viewport);
  }

  constructor(url, profile, context, viewport) {
    Object.assign(this, { url, profile, context, viewport, page: context.pages()[0] });
    context.setDefaultTimeout(TIMEOUT_MS); // also for requests without a page
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
    const answered = slice && await response.json().catch(() => null); // the page has left: its user did not see the error
    if (answered?.result) {
      this.answers.set(slice, answered.result);
    }
    this.asking.delete(response.request());
  }

  async logIn(user, password) {
    // The page reports its loading time a moment later, without a login. If that response arrived after the login, its
    // cookie would end the new session. A person is slower than that.
    const reported = this.page.waitForResponse(/superset\/log/);
    await this.page.goto(`${this.url}/login/`, { waitUntil: 'domcontentloaded' });
    await reported;
    await this.page.fill('[data-test="username-input"], input[name="username"]', user);
    await this.page.fill('[data-test="password-input"], input[name="password"]', password);
    await this.page.click('[data-test="login-button"], button[type="submit"]');
    await this.page.waitForURL((url) => !url.pathname.includes('/login'));
    this.user = user;
  }

  /** Logs in with the requests that the form sends. The two pages of `logIn` take five CPU-seconds. */
  async logInByRequest(user, password) {
    await logInByRequest(this.page.request, this.url, user, password);
    this.user = user;
  }

  /**
   * Opens a dashboard and draws each of its tabs completely, also below the edge of the window. With DRAWN (chart_requests.mjs) it draws some tabs,
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

  /** Whether the page contains the scripts of dashboards: a dashboard or the list of dashboards is open. */
  #isInside() {
    return [`${this.url}/superset/dashboard/`, `${this.url}/dashboard/list/`].some((start) => this.page.url().startsWith(start));
  }

  /** Draws tabs, and records the requests of the charts of all tabs. */
  async #keep(slug) {
    this.opened.set(slug, { charts: await this.charts(), asked: new Map(this.asked) });
    await this.#compareRequests();
    if (process.env.OPENED) { // test_browser.py checks that the list is complete
      const drawn = [...this.views].filter(([, { isDrawn: is }]) => is).map(([tab]) => tab);
      appendFileSync(process.env.OPENED, drawn.map((tab) => `${JSON.stringify([this.user, slug, tab])}\n`).join(''));
    }
  }

  /** Records each drawn chart whose request differs from the one that chart_requests.mjs builds. */
  async #compareRequests() {
    const sent = this.#sentByPage();
    const slices = [...sent.keys()];
    for (const { slice, panel, content } of await requestsOf(this.page, { slices, form: this.#pageForm() })) {
      const [built, asked] = [content, sent.get(slice).postDataJSON()].map(({ queries }) => JSON.stringify(queries));
      if (built !== asked) {
        this.errors.push(`the request of "${panel}" is ${asked}, but chart_requests.mjs builds ${built}`);
      }
    }
  }

  /** The requests of the drawn charts of this dashboard, by slice. */
  #sentByPage() {
    const drawn = [...this.views.values()].filter(({ isDrawn: is }) => is).flatMap(({ charts }) => charts);
    return new Map(drawn.map(({ slice }) => [slice, this.asked.get(slice)]));
  }

  /** The form data of the drawn chart with the most filters. A clicked value filters all charts except the clicked one. */
  #pageForm() {
    const forms = [...this.#sentByPage().values()].map((sent) => sent.postDataJSON().form_data);
    const count = (form) => form.extra_form_data?.filters?.length ?? 0;
    return forms.reduce((most, form) => (count(form) > count(most) ? form : most));
  }

  /** Draws the dashboard that a login has opened, as `open` does. */
  async land(slug) {
    await this.page.waitForURL((url) => url.pathname === `/superset/dashboard/${slug}/`);
    await this.#opened();
    await this.#keep(slug);
  }

  /** Opens a dashboard by path and query, and draws its first tab or the tab of the path. `charts` opens the other tabs. */
  async follow(path) {
    await this.#growWindow();
    await this.#forgetRange();
    await this.page.goto(`${this.url}${path}`, { waitUntil: 'domcontentloaded' });
    await this.#opened();
  }

  /** Removes the time range that Tailrace keeps from the dashboard before (tailrace_kept_range.py), for tests of the defaults. */
  #forgetRange() {
    return this.page.context().clearCookies({ name: 'tailrace_range' });
  }

  async #growWindow() {
    const { width, height } = this.page.viewportSize();
    await this.page.setViewportSize({ width, height: Math.max(height, WINDOW_HEIGHT) });
  }

  /**
   * Opens a dashboard as `follow` does, but within the loaded page, as Superset's own links do. Loading and compiling the
   * scripts again takes several CPU-seconds. The empty address in between closes the open dashboard.
   */
  async #goTo(slug, path) {
    await this.#growWindow();
    if (new URL(this.page.url()).pathname === `/superset/dashboard/${slug}/`) {
      await this.showFirst(); // Superset opens the same dashboard with its previous tab
    }
    await this.#route(NOWHERE);
    await this.page.waitForSelector(CHART, { state: 'detached' });
    await this.#forgetRange();
    const answered = this.page.waitForResponse((response) => new URL(response.url()).pathname === `/api/v1/dashboard/${slug}/charts`);
    await this.#route(path);
    const answer = await answered;
    if (!answer.ok()) {
      throw new Error(`charts of ${slug}: HTTP ${answer.status()}`);
    }
    const charts = (await answer.json()).result.map(({ id }) => id);
    await this.page.waitForFunction(([chart, its]) => {
      const shown = [...document.querySelectorAll(chart)].map((each) => Number(each.getAttribute('data-test-chart-id')));
      return shown.length > 0 && shown.every((id) => its.includes(id)); // at first the page still shows the charts of the previous dashboard
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

  /** Opens a dashboard and returns the milliseconds until the visible charts were drawn, without scrolling. */
  async glance(path) {
    await this.page.setViewportSize(this.viewport);
    await this.#forgetRange();
    await this.page.goto(`${this.url}${path}`, { waitUntil: 'domcontentloaded' });
    await this.page.waitForSelector('[data-test-viz-type]');
    await this.#drawn({ inSightOnly: true });
    const milliseconds = await this.page.evaluate(() => window.drawnSince);
    await this.page.waitForLoadState('networkidle'); // requests of the charts below must not delay the next dashboard
    return milliseconds;
  }

  /** Changes the size of the window, and waits until the panels and the visible charts have followed its width, and are drawn. */
  async resize(viewport) {
    const widths = ([chart]) => [...document.querySelectorAll(chart)].filter(window.shown).map((each) => [
      each.querySelector('.slice_container')?.clientWidth, each.querySelector('canvas, table')?.clientWidth]);
    const before = await this.page.evaluate(widths, [CHART]);
    const isWider = this.page.viewportSize().width !== viewport.width;
    await this.page.setViewportSize(viewport);
    await this.page.waitForFunction(([chart, known, changes]) => [...document.querySelectorAll(chart)].filter(window.shown).every((each, number) => {
      const [panel, drawing] = known[number] ?? [];
      const [now, drawn] = [each.querySelector('.slice_container')?.clientWidth, each.querySelector('canvas, table')?.clientWidth];
      const isFull = Math.abs(panel - drawing) < 2; // a narrow table is as wide as its texts
      return !isFull || (Math.abs(now - drawn) < 2 && (!changes || now !== panel));
    }), [CHART, before, isWider], { polling: POLL_MS });
    await this.#drawn({ inSightOnly: true });
    await this.page.waitForLoadState('networkidle');
  }

  /**
   * Opens a dashboard by a click in the list of dashboards, without a change of the window's height. Returns the milliseconds
   * until its charts were drawn. Superset's scripts are loaded already, so only the address changes. It awaits `ready` before
   * the click.
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

  /** Returns the charts of a tab and its cut-off contents. It reads the tab again after a change. */
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
    this.errors.push(...await wronglyColoured(this.page));
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
    if (tab !== undefined && tab !== WHOLE && tab !== await this.#openTab()) { // undefined: a login opened the dashboard, and no tab was read
      const opener = this.page.locator(TABS).nth([...this.views.keys()].indexOf(tab));
      await opener.click();
      const panel = `[id="${await opener.getAttribute('aria-controls')}"]`;
      await this.page.locator(`${panel} [data-test-viz-type], ${panel} .dashboard-markdown`).first().waitFor();
    }
  }

  /** The tab of a chart. It looks at the tabs that were read first, then at the others. */
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

  /** Opens the tab of a chart if it is not open, and waits until its charts are drawn. */
  async show(title) {
    const tab = await this.#tabOf(title);
    if (!this.views.get(tab).isDrawn) {
      await this.#draw(tab);
    }
    await this.#turnTo(tab);
    await this.settle();
  }

  /** Opens the first tab. */
  async showFirst() {
    await this.#turnTo([...this.views.keys()][0]);
    await this.settle();
  }

  /** Makes the window as high as the dashboard, because Superset draws only visible charts. The window never shrinks. */
  async fitWindow() {
    const height = await this.page.evaluate(() =>
      document.querySelector('.dashboard-content, [data-test="dashboard-content-wrapper"]').scrollHeight + 160);
    const { width, height: now } = this.page.viewportSize();
    if (height > now) {
      await this.page.setViewportSize({ width, height: Math.ceil(height) });
    }
  }

  /** Waits until no visible chart has an open request, and each has shown the same contents for a moment. */
  async settle() {
    const end = Date.now() + TIMEOUT_MS;
    do {
      await this.#drawn({ inSightOnly: false });
      if (Date.now() > end) {
        throw new Error(`no answer for the charts ${[...this.asking].map(sliceOf).join(', ')} within ${TIMEOUT_MS} ms`);
      }
    } while (this.asking.size > 0);
  }

  /** Waits until each chart, or each visible chart, has shown contents for a while. window.drawnSince is the start of that time. */
  async #drawn({ inSightOnly }) {
    await this.page.evaluate(() => { window.drawnSince = undefined; });
    await this.page.waitForFunction(({ something, still, inSightOnly }) => {
      const inSight = (chart) => {
        const { top, bottom } = chart.getBoundingClientRect();
        return bottom > 0 && top < window.innerHeight;
      };
      const isMeant = (each) => window.shown(each) && (!inSightOnly || inSight(each));
      const charts = [...document.querySelectorAll('[data-test-viz-type]')].filter(isMeant);
      const loading = '.loading, [data-test="loading-indicator"], .ant-skeleton';
      const texts = [...document.querySelectorAll('.dashboard-markdown')].filter(isMeant);
      const drawn = charts.length + texts.length > 0 && texts.every((text) => text.innerText.trim())
        && charts.every((chart) => !chart.querySelector(loading) && chart.querySelector(something))
        && !document.querySelector('[data-test="filter-bar"]').querySelector(loading);
      window.drawnSince = drawn ? window.drawnSince ?? performance.now() : undefined;
      return drawn && performance.now() - window.drawnSince > still;
    }, { something: SOMETHING, still: STILL_MS, inSightOnly }, { polling: POLL_MS });
  }

  /**
   * Every chart of the dashboard: its title, kind, text, and whether it shows an error or nothing. Each number of a
   * row is a chart of its own, with the data of the row.
   */
  async charts() {
    for (const tab of this.views.keys()) {
      await this.#view(tab);
    }
    return this.#known();
  }

  /** Returns a chart that was read. It opens and reads the tab again only after a change, because this draws the whole tab. */
  async chart(title) {
    const { charts } = await this.#view(await this.#tabOf(title));
    return charts.find((each) => each.title === title);
  }

  /** The charts of the tabs that were read. */
  #known() {
    return [...this.views.values()].flatMap(({ charts }) => charts);
  }

  /** The charts of the open tab. */
  async #read() {
    const found = await this.page.$$eval('[data-test-viz-type]', (charts) => charts.flatMap((chart) => {
      const panel = chart.getAttribute('data-test-chart-name');
      if (!window.shown(chart)) {
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
   * Returns the charts of this page with further filters, in the form of `open`, without drawing them: drawing a page takes
   * ten CPU-seconds. The test repeats the request of the chart with the filters that the filter bar would add.
   */
  filtered({ range, ...values }) {
    const filters = Object.entries(values).map(([col, value]) => ({ col, op: 'IN', val: [value] }));
    return new FilteredCharts(this, () => this.#known(), {
      asked: this.asked, filters, timeRange: range?.map(isoSeconds).join(' : '), isLink: false,
    });
  }

  /**
   * Returns the charts of the dashboard of a link, with the filters of the link, without opening it. This browser must have
   * opened that dashboard before. Throws if Superset could not read the link.
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

  /** The requests and charts of a dashboard that `open` recorded. Throws with the reason if it is not open. */
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

  /** Repeats the request of a chart with these filters, in addition to or instead of the filters that users set. Returns the response. */
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

  /** The visible rows of a table, as texts. */
  async table(title) {
    await this.show(title);
    return this.page.$$eval(`[data-test-chart-name="${title}"] tbody tr`, (rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim())));
  }

  /** The row headings of a pivot table that are visible without scrolling inside its panel. */
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

  /** The two lines of text of an empty chart. */
  async saysWhenEmpty(title) {
    await this.show(title);
    return this.page.$$eval(`[data-test-chart-name="${title}"] [aria-label="empty"] + div p`, (lines) =>
      lines.map((line) => getComputedStyle(line, '::after').content.slice(1, -1)));
  }

  /**
   * Returns texts that are higher than their panel, tables whose last rows are below its edge, and tables that are wider than
   * it, because users must scroll inside such panels. Also a menu below the header. The window is 1,440 pixels wide, a common
   * width of laptops.
   */
  async cutOff() {
    await this.charts();
    return [...this.views.values()].flatMap(({ cutOff }) => cutOff);
  }

  /** A table measures its columns after it was drawn. Contents that are cut off before that do not count. */
  async #cutOff() {
    let found = await this.#cutOffNow();
    for (let frames = 0; found.length && frames < LAYOUT_FRAMES; frames++) {
      await this.page.evaluate(() => new Promise(requestAnimationFrame));
      found = await this.#cutOffNow();
    }
    return found;
  }

  async #cutOffNow() {
    return this.page.evaluate((most) => {
      const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowY)
        && element.scrollHeight > element.clientHeight + 2;
      const texts = [...document.querySelectorAll('.dashboard-markdown')]
        .filter((text) => window.shown(text) && [...text.querySelectorAll('*')].some(scrolls)).map((text) => `text: ${text.innerText.slice(0, 40)}`);
      const tables = [...document.querySelectorAll('[data-test-viz-type="table"]')]
        .filter((table) => window.shown(table) && table.querySelector('.ant-pagination, .pagination') && [...table.querySelectorAll('*')].some(scrolls))
        .map((table) => `table: ${table.getAttribute('data-test-chart-name')}`);
      const sideways = [...document.querySelectorAll('[data-test-viz-type="table"]')]
        .filter((table) => window.shown(table) && [...table.querySelectorAll('div:has(> table)')].some((box) => box.scrollWidth > box.clientWidth + 2))
        .map((table) => `table wider than its panel: ${table.getAttribute('data-test-chart-name')}`);
      const lines = (title) => { // texts of a title; its sort icon has none
        const range = document.createRange();
        range.selectNodeContents(title);
        const texts = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 8);
        return texts.length && Math.round((Math.max(...texts.map(({ bottom }) => bottom)) - Math.min(...texts.map(({ top }) => top)))
          / parseFloat(getComputedStyle(title).lineHeight));
      };
      const titles = [...document.querySelectorAll('[data-test-viz-type="table"]:not([data-test-chart-name$=" summary"]) th')]
        .filter((title) => window.shown(title) && lines(title) > most).map((title) => `title of more than ${most} lines: ${title.innerText.trim()}`);
      const menu = document.querySelector('.main-nav')?.getBoundingClientRect();
      const menus = menu && (menu.top > 0 || menu.right > window.innerWidth) ? ['the menu does not fit into the header'] : [];
      return [...texts, ...tables, ...sideways, ...titles, ...menus];
    }, MOST_TITLE_LINES);
  }

  /** Selects a value in a filter of the filter bar. applyFilters applies it. */
  async choose(filter, value) {
    await this.page.locator(`[data-test="NATIVE_FILTER-${filter}"]`).click();
    await this.page.keyboard.type(value);
    await this.page.locator('.ant-select-item-option:visible', { hasText: value }).first().click();
    await this.page.keyboard.press('Escape');
  }

  /** Opens a filter of the filter bar, and waits until it offers exactly these values. */
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
    const [first, last] = [since, until].map((time) => time.replace('T', ' ').replace(/:00$/, '')); // static_assets.py
    await popover.getByText(`${first} to ${last} UTC`, { exact: true }).waitFor(); // the server has parsed it
    await popover.getByRole('button', { name: 'Apply' }).click();
    await this.applyFilters();
  }

  /** Opens the form of the time range. Superset mounts it again when its data arrives, and a click before that has no effect. */
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

  /** Clicks a value in a table, which adds or removes a filter of the other charts. */
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

  /** Types a text into the search box of a table that the server pages. The box searches the first column. */
  async search(title, text) {
    await this.show(title);
    await this.#redrawn(() => this.page.locator(`[data-test-chart-name="${title}"] .dt-global-filter input`).fill(text));
  }

  /** Runs an action that makes charts send requests, and waits until they have drawn the responses. */
  async #redrawn(action) {
    const asked = this.page.waitForResponse((response) => sliceOf(response.request()) !== undefined);
    await action();
    await asked;
    this.changes += 1;
    await this.settle();
  }

  /** Takes a screenshot of the first view. */
  async screenshot(path) {
    await this.showFirst();
    await this.page.mouse.move(0, 0);
    // the link of a tab under the pointer fades out
    await this.page.waitForFunction(() => !document.querySelector('[role="tab"]:hover') && document.getAnimations().every((each) => each.playState !== 'running'));
    await this.page.evaluate(() => window.scrollTo(0, 0)); // a click on a filter may have scrolled the page
    await this.page.screenshot({ path });
  }

  async close() {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}

/** The charts with other filters, with the methods `chart` and `charts` of the browser. `known` are the charts. */
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

  /** The chart with the rows of the response instead of the rows of the page. */
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

/** Logs in a session of requests, with or without a browser, by the requests that the form sends. */
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

/** The part of a dashboard's address that sets filters, in Rison as sql/queries/parts/links.sql writes it. */
export function address({ range, ...values }) {
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

/** In the page: defines shown(element): whether it is in the open tab. Charts of other tabs have a layout, but are not visible (style.css). */
function defineShown() {
  window.shown = (element) => element.checkVisibility({ visibilityProperty: true });
}

/**
 * In the page: sets the refresh interval of dashboards to a day. With their own refresh_frequency, an open dashboard would
 * request and draw all its charts each minute while tests compare its values.
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

/** The chart that sent this request. Undefined for other requests, such as the request of a filter for its values. */
function sliceOf(request) {
  const asks = request.method() === 'POST' && request.url().includes('/chart/data');
  return asks ? JSON.parse(request.postData()).form_data?.slice_id : undefined;
}
