// Waits for the parts of a work page that static/sections.js loads after the page. Shared by the pictures of the documentation
// and by `make bench-pages`.

const WAITING = '[data-section]';

/**
 * Waits until a page that has loaded has all its parts. Returns whether there was a part. The link in a part that could not be
 * loaded is an error.
 */
export async function awaitSections(page) {
  const known = await page.evaluate((waiting) => {
    const found = [...document.querySelectorAll('[data-section], #usual')];
    return { any: found.length > 0, open: document.querySelectorAll(waiting).length };
  }, WAITING);
  if (known.open > 0) {
    await page.waitForSelector(`${WAITING}[aria-busy]`, { state: 'detached' });
    const failed = await page.locator(WAITING).allInnerTexts();
    if (failed.length > 0) {
      throw new Error(`a part of ${page.url()} could not be loaded: ${failed.join('; ')}`);
    }
  }
  return known.any;
}
