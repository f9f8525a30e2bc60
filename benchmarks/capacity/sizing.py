"""How many of what an amount of logs a day needs, from service times and planned utilization."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from benchmarks.capacity.figures import Figures

DAY = 86_400
HOUR = 3600
DAYS_OF_MONTH = 30
GB = 1e9
TB = 1e12
KAFKA, NORMALIZE, CLICKHOUSE, DETECT = "Kafka", "normalize", "ClickHouse", "detect"
STAGES = (KAFKA, NORMALIZE, CLICKHOUSE, DETECT)


@dataclass(frozen=True)
class Load:
    """Entries a second, on average and in the busiest hour."""

    average: float
    peak: float


@dataclass(frozen=True)
class Plan:
    """Servers of an installation, and the entries a second that each stage can process."""

    load: Load
    hosts: int
    brokers: int
    normalize_managers: int
    detect_managers: int
    shards: int
    replicas: int
    partitions: int
    kafka_bytes: float
    clickhouse_bytes: float
    cores: Mapping[str, float]
    """Cores by stage; of ClickHouse those that inserts may use."""
    capacity: Mapping[str, float]

    @property
    def clickhouse_servers(self) -> int:
        return self.shards * self.replicas


def load_of(figures: Figures, bytes_per_day: float) -> Load:
    average = bytes_per_day / DAY / figures["entry_bytes"]
    return Load(average, average * max(figures.hours))


def seconds_of(figures: Figures) -> dict[str, float]:
    """Returns the CPU-seconds of an entry by stage, over all replicas."""
    further = figures["clickhouse_replicas"] - 1
    return {
        KAFKA: figures["kafka_seconds"] * figures["kafka_replicas"],
        NORMALIZE: figures["normalize_seconds"],
        CLICKHOUSE: figures["clickhouse_seconds"] * (1 + further * figures["replica_share"]),
        DETECT: figures["detect_seconds"],
    }


def plan(figures: Figures, bytes_per_day: float) -> Plan:
    """Returns the servers with which no stage exceeds the planned utilization in the busiest hour."""
    load = load_of(figures, bytes_per_day)
    seconds = seconds_of(figures)
    needed = {stage: load.peak * each / figures["utilization"] for stage, each in seconds.items()}
    kafka_bytes = _kafka_bytes(figures, bytes_per_day)
    rows = bytes_per_day / figures["entry_bytes"] * figures["row_days"]
    replicas = int(figures["clickhouse_replicas"])
    clickhouse_bytes = rows * figures["row_bytes"] * figures["table_factor"] * replicas
    usable = figures["server_cores"] * figures["insert_share"]
    by_cores = ceil(needed[CLICKHOUSE] / usable / replicas)
    by_disk = ceil(clickhouse_bytes / figures["server_disk"] / figures["disk_fill"] / replicas)
    brokers_by_disk = ceil(kafka_bytes / figures["broker_disk"] / figures["disk_fill"])
    by_broker_cores = ceil(needed[KAFKA] / figures["broker_cores"])
    brokers = max(int(figures["kafka_replicas"]), brokers_by_disk, by_broker_cores)
    normalize = ceil(needed[NORMALIZE] / figures["manager_cores"])
    detect = ceil(needed[DETECT] / figures["manager_cores"])
    shards = max(1, by_cores, by_disk)
    cores = {
        KAFKA: brokers * figures["broker_cores"],
        NORMALIZE: normalize * figures["manager_cores"],
        CLICKHOUSE: shards * replicas * usable,
        DETECT: detect * figures["manager_cores"],
    }
    peak_bytes = load.peak * figures["entry_bytes"]
    return Plan(
        load=load,
        hosts=ceil(peak_bytes / figures["host_bytes_per_second"]),
        brokers=brokers,
        normalize_managers=normalize,
        detect_managers=detect,
        shards=shards,
        replicas=replicas,
        partitions=int(max(cores[NORMALIZE], cores[DETECT]) * 2),
        kafka_bytes=kafka_bytes,
        clickhouse_bytes=clickhouse_bytes,
        cores=cores,
        capacity={stage: cores[stage] / seconds[stage] for stage in STAGES},
    )


def _kafka_bytes(figures: Figures, bytes_per_day: float) -> float:
    events = bytes_per_day / figures["entry_bytes"] * figures["event_bytes"]
    stored = bytes_per_day * figures["kafka_ratio"] + events
    return stored * figures["kafka_days"] * figures["kafka_replicas"]


@dataclass(frozen=True)
class Cost:
    """What one terabyte of logs costs. `cpu_hours` is the work; `core_hours` what the plan provides."""

    cpu_hours: float
    core_hours: float
    kafka_gb: float
    clickhouse_gb: float
    price: float


def cost(figures: Figures, found: Plan, bytes_per_day: float) -> Cost:
    entries = TB / figures["entry_bytes"]
    collected = figures["fluentbit_seconds"] + figures["census_seconds"]
    cpu_hours = entries * (sum(seconds_of(figures).values()) + collected) / HOUR
    per_day = bytes_per_day / TB
    servers = found.clickhouse_servers * figures["server_cores"]
    provided = sum(found.cores[stage] for stage in STAGES if stage != CLICKHOUSE) + servers
    core_hours = provided * 24 / per_day
    kafka_gb, clickhouse_gb = found.kafka_bytes / GB / per_day, found.clickhouse_bytes / GB / per_day
    disk_days = (kafka_gb + clickhouse_gb) * figures["disk_month_price"] / DAYS_OF_MONTH
    price = core_hours * figures["core_hour_price"] + disk_days
    return Cost(cpu_hours, core_hours, kafka_gb, clickhouse_gb, price)
