/** Backtests: rules, correlations and detectors over the events that ClickHouse stores. */
package io.tailrace.cli.backtest;
