"""An endurance test of the whole stack: load, random faults, and the trend of each resource."""
