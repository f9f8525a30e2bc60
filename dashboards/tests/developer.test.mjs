// The dashboards of developers in one real browser, each opened once.
//
// Environment: SUPERSET_URL, ROLES (users and passwords as JSON), WORKLOAD_END as given to seed.mjs; SCREENSHOTS, a
// directory of screenshots (default: no screenshots).

import './slow_queries.mjs';
import './ledger.mjs';
import './queries.mjs';
import './interval_comparison.mjs';
import './errors.mjs';
import { testBrowser } from './browser_session.mjs';

testBrowser();
