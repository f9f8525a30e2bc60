"""How quick the dashboards are over three months of events, drawn in a browser and asked again and again."""
