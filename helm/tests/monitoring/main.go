// Command monitoring reads a JSON array of resources from its standard input and decodes PodMonitors and PrometheusRules
// by the Prometheus operator's own types, which refuse unknown fields here. Rules are parsed and checked by Prometheus's
// own package, as `promtool check rules` does it: names, PromQL, templates. It prints a line for each complaint, and exits
// with 1 if there is one.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	var resources []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&resources); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	failed := false
	for _, resource := range resources {
		for _, complaint := range check(resource) {
			fmt.Println(complaint)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func check(resource json.RawMessage) []error {
	var kind struct{ Kind string }
	if err := json.Unmarshal(resource, &kind); err != nil {
		return []error{err}
	}
	switch kind.Kind {
	case "PodMonitor":
		return named(kind.Kind, decode(resource, &v1.PodMonitor{}))
	case "PrometheusRule":
		rule := v1.PrometheusRule{}
		if err := decode(resource, &rule); err != nil {
			return named(kind.Kind, err)
		}
		return named(kind.Kind, rules(rule.Spec)...)
	}
	return named(kind.Kind, fmt.Errorf("is not of the Prometheus operator"))
}

func decode(resource json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(resource))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// rules has them checked by Prometheus, which reads JSON as the YAML that it is.
func rules(spec v1.PrometheusRuleSpec) []error {
	text, err := json.Marshal(spec)
	if err != nil {
		return []error{err}
	}
	_, complaints := rulefmt.Parse(text, false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.Default())
	return complaints
}

func named(kind string, complaints ...error) []error {
	var all []error
	for _, each := range complaints {
		if each != nil {
			all = append(all, fmt.Errorf("%s: %w", kind, each))
		}
	}
	return all
}
