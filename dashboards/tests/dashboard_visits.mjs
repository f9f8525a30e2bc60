// Opens dashboards as a user of each role. Shared by the tests of roles and the pictures of the documentation.

import { readdirSync, readFileSync } from 'node:fs';
import { assertNoneFailed, assertNothingCutOff } from './assertions.mjs';

const DASHBOARDS = new URL('../dashboards/', import.meta.url);

/** Every dashboard: its slug, the roles that see it in the order of its file, and whether it has a time range. */
export function dashboards() {
  return readdirSync(DASHBOARDS).filter((file) => file.endsWith('.yaml')).sort().map((file) => {
    const text = readFileSync(new URL(file, DASHBOARDS), 'utf8');
    const roles = /^roles: \[(.+)\]$/m.exec(text)[1].split(', ');
    return { slug: /^slug: (\S+)$/m.exec(text)[1], roles, timed: /name: Time range/.test(text) };
  });
}

/** Opens a dashboard, performs the first action of a user, and reports charts that fail or are cut off. */
export async function visit(browser, slug, first = () => {}) {
  await browser.open(slug);
  await first(browser);
  await assertNoneFailed(browser);
  await assertNothingCutOff(browser);
}
