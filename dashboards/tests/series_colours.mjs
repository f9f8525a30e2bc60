// Compares the colours of drawn series with those that the dashboard names (`label_colors`). A series that it does not name may
// have any colour.

/** The series of the drawn charts that have another colour, each as a sentence. */
export function wronglyColoured(page) {
  return page.evaluate(inPage);
}

/** In the page. */
function inPage() {
  return [...document.querySelectorAll('[data-test-viz-type] canvas')].flatMap((canvas) => {
    const drawing = canvas.parentElement.parentElement; // ECharts has added the canvas and its parent
    const named = given(drawing, 'store').getState().dashboardInfo.metadata.label_colors ?? {};
    const { series } = given(drawing, 'echartOptions') ?? {};
    const title = canvas.closest('[data-test-viz-type]').getAttribute('data-test-chart-name');
    return (Array.isArray(series) ? series : series?.data ?? [])
      .filter(({ name, itemStyle }) => named[name] && itemStyle?.color && itemStyle.color !== named[name])
      .map(({ name, itemStyle }) => `"${name}" of "${title}" is ${itemStyle.color}, and ${named[name]} in label_colors`);
  });

  /** A property of the closest component around an element that has it. */
  function given(element, property) {
    let fiber = element[Object.keys(element).find((key) => key.startsWith('__reactFiber'))];
    while (fiber && !fiber.memoizedProps?.[property]) {
      fiber = fiber.return;
    }
    return fiber?.memoizedProps[property];
  }
}
