"""Archives closed days of event tables as Apache Iceberg tables of Parquet files, verifies and restores them.

Needs pyarrow and pyiceberg, which are optional: only commands of the archive import their modules.
"""
