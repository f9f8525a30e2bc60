// The requests of charts on tabs that are not drawn. Superset's own scripts build them in the page of the dashboard.
//
// Environment: DRAWN, a JSON object of the tabs that are drawn: {slug: [title]} (rendered_tabs.py; default: all); PANELS, a JSON
// object of the titles in each chart: {slug: {chart: [title]}}.

const DRAWN = process.env.DRAWN && JSON.parse(process.env.DRAWN);
const PANELS = JSON.parse(process.env.PANELS ?? '{}');

/** Whether DRAWN lists a tab of a dashboard. */
export function isDrawn(slug, tab) {
  return DRAWN === undefined || DRAWN[slug].includes(tab);
}

/**
 * Charts of the open dashboard with their requests: all charts of a tab, or those in `slices`. `form` is the form data of a
 * chart that the page has drawn, which contains the filters of the page.
 */
export function requestsOf(page, { tab, slices, form }) {
  const { extra_form_data, extra_filters, dashboardId } = form; // eslint-disable-line camelcase
  return page.evaluate(inPage, { tab, slices, filters: { extra_form_data, extra_filters, dashboardId } });
}

/** In the page. */
async function inPage({ tab, slices, filters }) {
  const state = storeOf(document.getElementById('app')).getState();
  const layout = Object.values(state.dashboardLayout.present);
  const placed = slices ?? layout.filter(({ type, parents = [] }) => type === 'CHART'
    && parents.some((id) => state.dashboardLayout.present[id].meta?.text === tab)).map(({ meta }) => meta.chartId);
  return Promise.all(placed.map(async (slice) => {
    const form = { ...state.charts[slice].form_data, ...filters };
    const content = await requestBuilder()({ formData: form, force: false, resultFormat: 'json', resultType: 'full' });
    return { slice, kind: form.viz_type, panel: state.sliceEntities.slices[slice].slice_name, content };
  }));

  /** Superset's Redux store: a property of the first component that has one. */
  function storeOf(root) {
    const open = [root[Object.keys(root).find((key) => key.startsWith('__reactContainer'))] ?? root._reactRootContainer._internalRoot.current];
    while (open.length > 0) {
      const fiber = open.pop();
      if (fiber.memoizedProps?.store?.getState) {
        return fiber.memoizedProps.store;
      }
      open.push(...[fiber.sibling, fiber.child].filter(Boolean));
    }
    throw new Error("Superset's store is not found");
  }

  /**
   * Superset's buildV1ChartDataPayload, which is not exported: it and the registry that it uses are found by names that
   * minifying keeps. The page has several entries with modules of their own; only that of dashboards has registered charts.
   */
  function requestBuilder() {
    window.requestBuilder ??= (() => {
      const entries = [];
      window.webpackChunksuperset.push([['tests'], {}, (require) => { entries.push(require); }]);
      const exportsOf = (require, source) => Object.entries(require.m).filter(([, factory]) => source.test(String(factory)))
        .flatMap(([id]) => Object.values(require(id))).filter((exported) => typeof exported === 'function');
      const used = entries.find((require) => exportsOf(require, /name:"ChartBuildQuery"/).some((registry) => registry().keys().length > 0));
      const writes = /result_format:\w+,result_type:\w+/;
      return exportsOf(used, writes).find((exported) => writes.test(String(exported)));
    })();
    return window.requestBuilder;
  }
}

/** A request that the page did not send, in the form of the requests of the page. */
export function requestLike(sent, slice, content) {
  const url = new URL(sent.url());
  url.searchParams.set('form_data', JSON.stringify({ slice_id: slice }));
  return { url: () => url.href, headers: () => sent.headers(), postDataJSON: () => structuredClone(content) };
}

/** The charts of a response: one chart, or one for each number of a row. */
export function chartsAnswered(slug, { slice, kind, panel }, text, result) {
  const [{ data, rowcount, error } = { error: text }] = result ?? [];
  const chart = { kind, slice, panel, text, data, failed: Boolean(error), empty: rowcount === 0 };
  const titles = PANELS[slug][panel];
  return titles.map((title) => ({ ...chart, title, kind: title === panel ? kind : 'number' }));
}
